// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "light/kernel_registry.h"
#include "light/value.h"

namespace ort_host {

/// Where an evaluation puts its results.
class ReferenceOutputs {
 public:
  /// Copies output `k` of the model, which may borrow its memory. False if there is no room for it: the evaluation is
  /// over then, and its caller knows why.
  virtual bool Put(std::size_t k, const light::Value& value) = 0;

 protected:
  ~ReferenceOutputs() = default;
};

/// How the Python face evaluates one node with onnx.reference. Functions throw nothing; what goes wrong is said in
/// `why`.
struct ReferenceHooks {
  /// Makes an evaluator from a model with one node, under Python's lock. Returns null if there is none for it.
  void* (*make)(const std::string& model, std::string& why);
  /// Evaluates under Python's lock: `inputs` are the model's inputs in their order, `outputs` takes one value for each
  /// of `output_types`. May be called from several threads at once.
  bool (*run)(void* evaluator, const std::vector<const light::Value*>& inputs,
              const std::vector<light::ValueType>& output_types, ReferenceOutputs& outputs, std::string& why);
  /// Gives an evaluator up without Python's lock. It must not wait for the lock: CPython ends a thread that asks for
  /// it too late by unwinding its stack, and destructors are where that must not begin.
  void (*release)(void* evaluator) noexcept;
};

/// Called once, before the first session.
void SetReferenceHooks(const ReferenceHooks& hooks) noexcept;

/// Kernels that hand a node of a standard operator to onnx.reference. Built at the first call, never destroyed.
const light::KernelRegistry* ReferenceKernels();

}  // namespace ort_host
