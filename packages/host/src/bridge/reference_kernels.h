// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "light/kernel_registry.h"
#include "light/value.h"

namespace ort_host {

/// How the Python face evaluates one node with onnx.reference. The functions take Python's lock themselves and throw
/// nothing; what goes wrong is said in `why`.
struct ReferenceHooks {
  /// Makes an evaluator from a model with one node. Returns null if there is none for it.
  void* (*make)(const std::string& model, std::string& why);
  /// Evaluates: `inputs` are the model's inputs in their order. Fills `outputs`, one for each of `output_types`, with
  /// values that own their memory. May be called from several threads at once.
  bool (*run)(void* evaluator, const std::vector<const light::Value*>& inputs,
              const std::vector<light::ValueType>& output_types, std::vector<light::Value>& outputs, std::string& why);
  void (*release)(void* evaluator);
};

/// Called once, before the first session.
void SetReferenceHooks(const ReferenceHooks& hooks) noexcept;

/// Kernels that hand a node of a standard operator to onnx.reference. Built at the first call, never destroyed.
const light::KernelRegistry* ReferenceKernels();

}  // namespace ort_host
