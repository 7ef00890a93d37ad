// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "light/error.h"
#include "light/graph.h"
#include "light/layout.h"
#include "light/memory_budget.h"
#include "light/value.h"

namespace light {

class Program;
struct Epilogue;

/// What a session lets kernels do.
struct KernelOptions {
  /// Convolutions may use Winograd's transform: fewer multiplications for larger rounding errors.
  bool winograd = true;
};

/// What a kernel may know of its node when it is made. Valid during construction only, except that graph(), node() and
/// the constant inputs live as long as the session.
class KernelInfo {
 public:
  /// @param folded  by ValueId: results of nodes that were computed during lowering, nullptr where there is none
  /// @param bodies  of the node's subgraphs, in their order
  /// @param epilogue  what the kernel does to its result beyond the node; nullptr: nothing
  KernelInfo(const Graph& graph, const Node& node, MemoryBudget* budget = nullptr,
             const std::vector<std::shared_ptr<const Value>>* folded = nullptr,
             std::span<const std::unique_ptr<Program>> bodies = {}, const Epilogue* epilogue = nullptr,
             const KernelOptions& options = {}, Layouts layouts = {})
      : graph_(graph),
        node_(node),
        budget_(budget),
        folded_(folded),
        bodies_(bodies),
        epilogue_(epilogue),
        options_(options),
        layouts_(layouts) {}

  const Graph& graph() const noexcept { return graph_; }
  const Node& node() const noexcept { return node_; }
  int since_version() const noexcept { return node_.since_version; }
  std::size_t input_count() const noexcept { return node_.inputs.size(); }
  std::size_t output_count() const noexcept { return node_.outputs.size(); }
  bool HasInput(std::size_t i) const noexcept { return i < node_.inputs.size() && node_.inputs[i] != kNoValue; }
  bool HasOutput(std::size_t i) const noexcept { return i < node_.outputs.size() && node_.outputs[i] != kNoValue; }
  /// Static type of argument `i`; nullptr if omitted.
  const ValueType* InputType(std::size_t i) const noexcept;
  const ValueType* OutputType(std::size_t i) const noexcept;
  ElementType InputElement(std::size_t i) const noexcept;   ///< kUndefined if omitted
  ElementType OutputElement(std::size_t i) const noexcept;  ///< kUndefined if omitted
  /// The tensor of argument `i` if it is a constant (an initializer, or computed from constants alone), else nullptr.
  /// Lives as long as the session.
  const Tensor* ConstantInput(std::size_t i) const noexcept;
  /// The subgraph in the attribute, ready to run. Lives as long as the session. Throws Error (kInvalidGraph) if the
  /// node has no such attribute.
  Program& Body(std::string_view attribute) const;
  /// What later nodes want done to the result on its way to memory. Only what the registration says the kernel can do.
  const Epilogue& epilogue() const noexcept;
  const KernelOptions& options() const noexcept { return options_; }
  /// Only what the registration says the kernel can do.
  const Layouts& layouts() const noexcept { return layouts_; }
  /// The budget that long-lived memory of a hosted kernel is charged to; nullptr if there is none.
  MemoryBudget* budget() const noexcept { return budget_; }

  /// The attribute written on the node, else the schema's default, else nullptr.
  const Attribute* FindAttribute(std::string_view name) const noexcept;
  bool HasAttribute(std::string_view name) const noexcept { return FindAttribute(name) != nullptr; }
  // Attribute by kind, or `fallback` if there is none. Throw Error (kInvalidGraph) if it has another kind.
  int64_t Int(std::string_view name, int64_t fallback) const;
  float Float(std::string_view name, float fallback) const;
  std::string String(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> fallback = {}) const;
  std::vector<float> Floats(std::string_view name, std::vector<float> fallback = {}) const;
  std::vector<std::string> Strings(std::string_view name) const;
  const Tensor* TensorAttribute(std::string_view name) const;  ///< nullptr if there is none

  /// Throws Error: `<node label>: <message>`.
  [[noreturn]] void Fail(ErrorCode code, const std::string& message) const;

 private:
  const Graph& graph_;
  const Node& node_;
  MemoryBudget* budget_;
  const std::vector<std::shared_ptr<const Value>>* folded_;
  std::span<const std::unique_ptr<Program>> bodies_;
  const Epilogue* epilogue_;
  KernelOptions options_;
  Layouts layouts_;
};

}  // namespace light
