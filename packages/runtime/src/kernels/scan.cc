// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "exec/spares.h"
#include "kernels/arguments.h"
#include "kernels/body.h"
#include "kernels/families.h"
#include "kernels/input_axes.h"
#include "kernels/moved.h"

namespace light {
namespace {

/// An input that the body sees one slice at a time.
class ScannedInput {
 public:
  void Begin(const Tensor& whole, std::size_t axis, bool backwards, MemoryBudget* budget) {
    whole_ = &whole;
    axis_ = axis;
    backwards_ = backwards;
    Dims dims;
    dims.Resize(whole.rank() - 1);
    for (std::size_t d = 0; d < dims.rank(); ++d) dims[d] = whole.dim(d + (d >= axis ? 1 : 0));
    Tensor& slice = slice_.MakeTensor();
    const std::size_t bytes = slice.Reshape(whole.type(), dims);
    if (axis == 0) return;
    if (whole.type() == ElementType::kString) {
      slice = Tensor::Allocate(whole.type(), dims);
    } else {
      memory_.Reserve(bytes, budget, "scanned slice");
      slice.set_data(memory_.data());
    }
  }
  /// Holds no values any more.
  void Clear() noexcept {
    slice_.Reset();
    KeepSmall(memory_);
  }

  int64_t length() const noexcept { return whole_->dim(axis_); }
  const Value& slice() const noexcept { return slice_; }
  void MoveTo(int64_t step) {
    const int64_t index = backwards_ ? length() - 1 - step : step;
    Tensor& slice = slice_.tensor();
    if (axis_ > 0) return CopySlice(*whole_, axis_, index, slice);
    // Slices of the first axis lie together: no copy.
    auto* first = const_cast<char*>(static_cast<const char*>(whole_->data()));
    slice.set_data(first + static_cast<std::size_t>(index) * slice.byte_size());
  }

 private:
  const Tensor* whole_ = nullptr;
  std::size_t axis_ = 0;
  bool backwards_ = false;
  Value slice_;
  GrowingBuffer memory_;
};

/// Outputs of the body: the states, then what is collected.
class ScanIo final : public BodyIo {
 public:
  ScanIo(const Body& body, std::size_t state_count, std::size_t scan_count, MemoryBudget* budget)
      : BodyIo(body), scanned(scan_count) {
    states.reserve(state_count);
    for (std::size_t i = 0; i < state_count; ++i) states.emplace_back(budget);
    for (std::size_t i = state_count; i < body.output_count(); ++i)
      stacked.emplace_back("output " + std::to_string(i) + " of the body", budget);
  }

  Tensor& CreateOutput(std::size_t i, ElementType type, std::span<const int64_t> dims) override {
    return i < states.size() ? states[i].MakeNext(type, dims) : stacked[i - states.size()].Next(type, dims);
  }
  void SetOutput(std::size_t i, Value) override {
    FailArgument("output " + std::to_string(i) + " of the body: must be a tensor");
  }

  std::vector<ScannedInput> scanned;
  std::vector<CarriedValue> states;
  std::vector<StackedOutput> stacked;
};

class Scan final : public KernelBase {
 public:
  explicit Scan(const KernelInfo& info) : body_(info, "body"), budget_(info.budget()) {
    const int64_t scans = info.Int("num_scan_inputs", 0);
    if (scans < 1 || scans > static_cast<int64_t>(info.input_count())) {
      info.Fail(ErrorCode::kInvalidGraph, "attribute 'num_scan_inputs': must be in [1, " +
                                              std::to_string(info.input_count()) + "], got " + std::to_string(scans));
    }
    scans_ = static_cast<std::size_t>(scans);
    states_ = info.input_count() - scans_;
    body_.ExpectArguments(info.input_count(), std::max(info.output_count(), states_));
    collected_ = body_.output_count() - states_;
    input_axes_ = PerArgument(info, "scan_input_axes", scans_);
    output_axes_ = PerArgument(info, "scan_output_axes", collected_);
    input_backwards_ = PerArgument(info, "scan_input_directions", scans_);
    output_backwards_ = PerArgument(info, "scan_output_directions", collected_);
  }

  void Run(RuntimeContext& context) override {
    std::unique_ptr<ScanIo> kept = idle_.Take();
    if (kept == nullptr) kept = std::make_unique<ScanIo>(body_, states_, scans_, budget_);
    ScanIo& io = *kept;
    std::vector<ScannedInput>& scanned = io.scanned;
    for (std::size_t i = 0; i < scans_; ++i) {
      const Tensor& whole = Required(context, states_ + i, "scan input");
      const auto axis =
          static_cast<std::size_t>(NormalizeAxis(input_axes_[i], whole.rank(), "attribute scan_input_axes"));
      scanned[i].Begin(whole, axis, input_backwards_[i] != 0, budget_);
      if (scanned[i].length() != scanned[0].length()) {
        FailArgument(InputLabel(states_ + i, "scan input") + ": must be as long as the first one, " +
                     std::to_string(scanned[0].length()) + ", got " + std::to_string(scanned[i].length()));
      }
      io.Bind(states_ + i, scanned[i].slice());
    }
    for (std::size_t i = 0; i < states_; ++i) {
      io.states[i].Begin(context.InputValue(i));
      io.Bind(i, io.states[i].current());
    }
    for (int64_t step = 0; step < scanned[0].length(); ++step) {
      for (ScannedInput& input : scanned) input.MoveTo(step);
      io.Run(context);
      for (CarriedValue& state : io.states) state.Advance();
    }
    for (std::size_t i = 0; i < states_; ++i) io.states[i].Finish(context, i);
    for (std::size_t i = 0; i < collected_; ++i) {
      io.stacked[i].Finish(context, states_ + i, body_.OutputType(states_ + i), output_axes_[i],
                           output_backwards_[i] != 0);
    }
    for (ScannedInput& input : scanned) input.Clear();
    idle_.GiveBack(std::move(kept));
  }

 private:
  static std::vector<int64_t> PerArgument(const KernelInfo& info, std::string_view name, std::size_t count) {
    std::vector<int64_t> values = info.Ints(name);
    if (values.empty()) values.resize(count);
    if (values.size() != count) {
      info.Fail(ErrorCode::kInvalidGraph, "attribute '" + std::string(name) + "': must have " + std::to_string(count) +
                                              " elements, got " + std::to_string(values.size()));
    }
    return values;
  }

  Body body_;
  MemoryBudget* budget_;
  std::size_t scans_ = 0;
  std::size_t states_ = 0;
  std::size_t collected_ = 0;
  std::vector<int64_t> input_axes_;
  std::vector<int64_t> output_axes_;
  std::vector<int64_t> input_backwards_;
  std::vector<int64_t> output_backwards_;
  Spares<ScanIo> idle_;
};

}  // namespace

void RegisterScan(KernelRegistry& registry) {
  // Version 8 has a batch axis and lengths, which no exporter has written for years.
  registry.RegisterKernelFn(Registration("Scan", 9, 25, {{"V", WholeByteTensors()}}), MakeKernel<Scan>);
}

}  // namespace light
