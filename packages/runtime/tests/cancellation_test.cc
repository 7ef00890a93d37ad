// SPDX-License-Identifier: Apache-2.0
// A run that its caller ends between two steps.
#include <chrono>
#include <thread>

#include "check.h"
#include "light/error.h"
#include "toy_operators.h"

namespace toy {
namespace {

using namespace std::chrono_literals;

/// A boundary whose run asks a counter now and then.
class CountingBoundary final : public BoundaryIo {
 public:
  CountingBoundary(Value input, Cancellation::Clock::duration interval, int throws_at)
      : input_(std::move(input)), throws_at_(throws_at), cancellation_(Count, this, interval) {}

  const Value& Input(std::size_t) override { return input_; }
  Tensor& CreateOutput(std::size_t, ElementType type, std::span<const int64_t> dims) override {
    output = Value(Tensor::Allocate(type, dims));
    return output.tensor();
  }
  void SetOutput(std::size_t, Value value) override { output = std::move(value); }
  Cancellation* cancellation() noexcept override { return &cancellation_; }

  Value output;
  int asked = 0;

 private:
  static void Count(void* self) {
    auto& boundary = *static_cast<CountingBoundary*>(self);
    if (++boundary.asked == boundary.throws_at_) throw Error(ErrorCode::kFail, "enough");
  }

  Value input_;
  int throws_at_;
  Cancellation cancellation_;
};

int steps_run = 0;

/// A session of `length` steps in a row, each of which counts itself and takes some time.
std::unique_ptr<Session> Chain(int length, std::chrono::milliseconds duration) {
  static Operators* const operators = new Operators();
  const std::string op = "Step" + std::to_string(length);
  operators->Add(
      op, 1, 1,
      [duration](RuntimeContext& context) {
        ++steps_run;
        std::this_thread::sleep_for(duration);
        Increment(context);
      },
      {}, SameShape);
  ModelWriter writer;
  writer.Input("x");
  for (int i = 0; i < length; ++i) {
    writer.Node(op, {i == 0 ? "x" : "t" + std::to_string(i - 1)}, {i + 1 == length ? "y" : "t" + std::to_string(i)});
  }
  SessionConfig config;
  config.schemas = &operators->schemas;
  config.sources.native = &operators->kernels;
  return std::make_unique<Session>(writer.Output("y").Take(), config);
}

void AnErrorEndsTheRunAndTheSessionGoesOn() {
  const auto session = Chain(100, 0ms);
  CountingBoundary ended(Floats({1}), 0ms, 3);
  std::string message;
  try {
    session->Run(ended);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.find("enough") != std::string::npos);
  CHECK(ended.asked == 3 && steps_run >= 2 && steps_run < 100);
  CountingBoundary whole(Floats({1}), 0ms, 0);
  session->Run(whole);
  CHECK(Read(whole.output) == std::vector<float>{101} && whole.asked >= 4);
}

void NobodyIsAskedWithinTheInterval() {
  const auto session = Chain(1000, 0ms);
  CountingBoundary boundary(Floats({1}), std::chrono::hours(1), 1);
  session->Run(boundary);
  CHECK(boundary.asked == 0 && Read(boundary.output) == std::vector<float>{1001});
}

void ARunOfOneStepIsNotAsked() {
  const auto session = Chain(1, 0ms);
  CountingBoundary boundary(Floats({1}), 0ms, 1);
  session->Run(boundary);
  CHECK(boundary.asked == 0 && Read(boundary.output) == std::vector<float>{2});
}

void SlowStepsAreAskedBetween() {
  const auto session = Chain(20, 10ms);
  CountingBoundary boundary(Floats({1}), 20ms, 0);
  session->Run(boundary);
  CHECK(boundary.asked >= 4);  // the 18 steps after the first look take 180 ms at least
}

}  // namespace
}  // namespace toy

int main() {
  toy::AnErrorEndsTheRunAndTheSessionGoesOn();
  toy::NobodyIsAskedWithinTheInterval();
  toy::ARunOfOneStepIsNotAsked();
  toy::SlowStepsAreAskedBetween();
}
