// SPDX-License-Identifier: Apache-2.0
#include "adapters/guarded_tensors.h"

#include <cstring>
#include <functional>
#include <string_view>

#include "adapters/checked.h"

namespace ort_host {
namespace {

using light::ElementType;
using light::Tensor;

/// A multiple of the alignment of tensors, so that the elements keep it.
constexpr std::size_t kGuard = 4096;
constexpr unsigned char kPattern = 0xc9;

bool IsIntact(const unsigned char* guard) {
  return guard[0] == kPattern && std::memcmp(guard, guard + 1, kGuard - 1) == 0;  // each byte is the one before it
}

}  // namespace

std::size_t HashOf(const Tensor& tensor) {
  if (tensor.byte_size() == 0) return 0;
  if (tensor.type() == ElementType::kString) {
    std::size_t hash = 0;
    for (const std::string& element : tensor.Span<std::string>()) hash = hash * 31 + std::hash<std::string>{}(element);
    return hash;
  }
  return std::hash<std::string_view>{}({static_cast<const char*>(tensor.data()), tensor.byte_size()});
}

GuardedTensors::GuardedTensors(light::RuntimeContext& context) : context_(context) {
  for (std::size_t i = 0; i < context.input_count(); ++i) hashes_.push_back(HashInput(i));
}

std::size_t GuardedTensors::HashInput(std::size_t i) {
  const light::Value& value = context_.InputValue(i);
  return value.is_tensor() ? HashOf(value.tensor()) : 0;
}

void* GuardedTensors::Block(std::size_t i, std::size_t bytes) {
  const int64_t extent = static_cast<int64_t>(bytes + 2 * kGuard);
  Output& made =
      outputs_.emplace_back(Output{i, nullptr, bytes, Tensor::Allocate(ElementType::kUint8, {&extent, 1}), {}});
  auto* start = made.block.Data<unsigned char>();
  std::memset(start, kPattern, kGuard);
  std::memset(start + kGuard + bytes, kPattern, kGuard);
  return start + kGuard;
}

void GuardedTensors::SetTarget(std::size_t i, const Tensor& view, Tensor& output) {
  for (Output& made : outputs_) {
    if (made.index != i) continue;
    made.view = view;
    made.target = &output;
  }
}

Tensor* GuardedTensors::Guard(std::size_t i, Tensor& output) {
  if (output.type() == ElementType::kString || output.byte_size() == 0) return &output;
  void* elements = Block(i, output.byte_size());
  Output& made = outputs_.back();
  made.view = Tensor::Borrow(output.type(), output.dims(), elements);
  made.target = &output;
  return &made.view;
}

std::string GuardedTensors::Judge(const std::string& label, const char* callback) {
  std::string first;
  const auto report = [&](const char* rule, const std::string& what) {
    checked::Report(rule, callback, label + ": " + what);
    if (first.empty()) first = std::string(rule) + ": " + what;
  };
  for (const Output& output : outputs_) {
    const auto* start = output.block.Data<unsigned char>();
    const std::string name = "output " + std::to_string(output.index);
    if (!IsIntact(start)) report("overrun", name + ": the kernel wrote before the first element");
    if (!IsIntact(start + kGuard + output.bytes)) {
      report("overrun", name + ": the kernel wrote behind the last element");
    }
  }
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    if (HashInput(i) != hashes_[i]) report("input_written", "input " + std::to_string(i) + ": the kernel changed it");
  }
  return first;
}

void GuardedTensors::Publish() {
  for (Output& output : outputs_) {
    if (output.target != nullptr) light::CopyElements(output.view, *output.target);
  }
}

}  // namespace ort_host
