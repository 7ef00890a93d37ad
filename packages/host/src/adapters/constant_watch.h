// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

#include "light/tensor.h"

namespace ort_host {

/// Checked mode's watch over the constants that a provider has looked at. Any thread may use it.
class ConstantWatch {
 public:
  /// From now on the elements must stay as they are.
  void Show(const std::string& name, const light::Tensor& constant);
  /// Reports each constant that was changed since it was shown or judged, as `input_written` in `callback`. `label` is
  /// the provider's. Returns "" or the first of it.
  std::string Judge(const std::string& label, const char* callback);

 private:
  struct Shown {
    std::string name;
    light::Tensor tensor;  // shares the elements
    std::size_t hash;
  };
  std::mutex mutex_;
  std::unordered_map<const void*, Shown> shown_;  // by address of the elements
};

}  // namespace ort_host
