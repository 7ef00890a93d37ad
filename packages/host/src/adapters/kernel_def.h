// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ort_abi/ort_c_api.h>

#include "adapters/kinds.h"
#include "light/kernel_registry.h"

namespace ort_host {

/// Behind OrtDataType: tensors of one element type. The same object each time, never destroyed.
class DataTypeAdapter final : public AdapterBase {
 public:
  DataTypeAdapter(const DataTypeAdapter&) = delete;

  /// Null for a type that kernels cannot be registered for.
  static const DataTypeAdapter* Of(ONNXTensorElementDataType type);
  light::ElementType element() const noexcept { return element_; }

 private:
  explicit DataTypeAdapter(light::ElementType element) : AdapterBase(kDataTypeKind), element_(element) {}

  light::ElementType element_;
};

using MemoryTypes = std::map<std::size_t, OrtMemType>;
using IndexPairs = std::vector<std::pair<int, int>>;  // (input, output)

/// What a library's kernel is for, as the library said it.
struct KernelDefinition {
  std::string op_type;
  std::string domain;
  std::string provider;
  int since = 1;
  int until = INT_MAX;  ///< inclusive; INT_MAX: no end given
  std::vector<light::TypeConstraint> constraints;
  MemoryTypes input_memory;
  MemoryTypes output_memory;
  IndexPairs aliases;      ///< the output may share the unmodified input
  IndexPairs may_inplace;  ///< the output may overwrite the input

  /// "" for ONNX, whichever way it was written.
  std::string_view plain_domain() const noexcept { return domain == "ai.onnx" ? std::string_view() : domain; }
  /// True if the version of an operator's schema is among those it is for: without an end that is the first alone.
  bool Covers(int since_version) const noexcept;
  /// For messages: `Relu (versions 6 to 13)`.
  std::string Label() const;
};

/// Behind OrtKernelDef. A library owns those that it builds; those of a session's registry are lent for a call.
class KernelDefAdapter final : public AdapterBase {
 public:
  enum class Owner : uint8_t { kRegistry, kLibrary };
  KernelDefAdapter(KernelDefinition definition, Owner owner)
      : AdapterBase(kKernelDefKind), definition_(std::move(definition)), owner_(owner) {}
  KernelDefAdapter(const KernelDefAdapter&) = delete;

  const KernelDefinition& definition() const noexcept { return definition_; }
  /// True for what a library must release.
  bool is_owned() const noexcept { return owner_ == Owner::kLibrary; }

 private:
  KernelDefinition definition_;
  Owner owner_;
};

/// Behind OrtKernelDefBuilder: gives one definition.
class KernelDefBuilderAdapter final : public AdapterBase {
 public:
  KernelDefBuilderAdapter() : AdapterBase(kKernelDefBuilderKind), definition_(std::in_place) {}
  KernelDefBuilderAdapter(const KernelDefBuilderAdapter&) = delete;

  /// Throws StatusError (INVALID_ARGUMENT) once it was built.
  KernelDefinition& definition();
  std::unique_ptr<KernelDefAdapter> Build();

 private:
  std::optional<KernelDefinition> definition_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtDataType, DataTypeAdapter, kDataTypeKind, "data type");
ORT_HOST_HANDLE(OrtKernelDef, KernelDefAdapter, kKernelDefKind, "kernel definition");
ORT_HOST_HANDLE(OrtKernelDefBuilder, KernelDefBuilderAdapter, kKernelDefBuilderKind, "kernel definition builder");
