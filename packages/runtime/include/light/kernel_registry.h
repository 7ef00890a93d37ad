// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "light/kernel.h"
#include "light/layout.h"
#include "light/operator_schema.h"

namespace light {

struct TypeConstraint {
  std::string parameter;  ///< name of the schema's type parameter ("T"), or of a formal argument ("X")
  TypeSet allowed;
};

/// Where a kernel wants an argument.
enum class MemoryType : uint8_t { kDevice, kCpu };

/// What a kernel can do to its float32 result on the way to memory; see Epilogue in kernels/epilogue.h.
struct EpilogueSupport {
  bool bias = false;
  bool residual = false;
  bool relu = false;
  /// The kernel is a PackedProduct: with a constant matrix, it may run in one loop with others of its left side.
  bool siblings = false;
};

/// What a kernel is for. All of it is used for selection or by the plan, and it is what the documentation lists.
struct KernelRegistration {
  std::string domain;  ///< "" for ONNX
  std::string op_type;
  int since = 1;  ///< first and last schema version (Node::since_version) that it implements
  int until = INT_MAX;
  std::vector<TypeConstraint> constraints;  ///< a type parameter without one admits every type
  std::string device = "CPU";
  std::string kernel_name;               ///< qualified: `light::Relu`
  std::vector<MemoryType> input_memory;  ///< missing entries: kDevice
  std::vector<MemoryType> output_memory;
  std::vector<std::pair<int, int>> may_inplace;  ///< (input, output): the output may overwrite the input, same extents
  std::vector<std::pair<int, int>> aliases;      ///< (input, output): the output is a view of the input (OutputView)
  bool is_elementwise = false;                   ///< for float32 it makes an ElementwiseKernel (kernels/elementwise.h)
  EpilogueSupport epilogue = {};
  /// Which layouts (KernelInfo::layouts) the kernel can be made for. Null: channels are the second axis.
  LayoutSupport (*layout_support)(const KernelInfo& info) = nullptr;
  bool is_hosted = false;  ///< runs foreign code: idle workers stop spinning before it
  /// What the types do not tell: why the kernel does not implement this node, or "" if it does. Null: it always does.
  std::string (*declines)(const KernelInfo& info) = nullptr;
};

struct KernelEntry {
  KernelRegistration registration;
  NodeKernelFn make;
};

/// Kernels by operator. An object with an owner: a change affects sessions made afterwards, never a live one.
class KernelRegistry {
 public:
  /// Adds a kernel. If one with the same domain, operator, versions, constraints and device exists, replaces it
  /// when `overwrite`, else leaves it and returns false.
  bool RegisterKernelFn(KernelRegistration registration, NodeKernelFn make, bool overwrite = false);

  /// The first kernel, in order of registration, that implements the node's operator, version and every type; nullptr
  /// if none does, and then `why` (if given) says which condition failed.
  const KernelEntry* Find(const Graph& graph, const Node& node, std::string* why = nullptr) const;
  /// All kernels in order of registration.
  std::vector<const KernelEntry*> All() const;

 private:
  std::unordered_map<std::string, std::vector<std::unique_ptr<KernelEntry>>> kernels_;  // "domain:op"
  std::vector<const KernelEntry*> order_;
};

/// The kernels of this library. Built at the first call, never destroyed. Safe from any thread.
const KernelRegistry& NativeKernels();

}  // namespace light
