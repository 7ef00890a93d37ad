// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exec/growing_buffer.h"
#include "exec/text_meter.h"
#include "light/boundary_io.h"
#include "light/kernel_info.h"
#include "light/program.h"
#include "light/runtime_context.h"

namespace light {

/// A subgraph of a control-flow node, ready to run. Kept by the node's kernel.
class Body {
 public:
  /// Throws Error (kInvalidGraph) if the node has no graph in that attribute.
  Body(const KernelInfo& info, std::string_view attribute);

  Program& program() const noexcept { return program_; }
  const Graph& graph() const noexcept { return program_.graph(); }
  std::size_t input_count() const noexcept { return graph().inputs().size(); }
  std::size_t output_count() const noexcept { return graph().outputs().size(); }
  const ValueType& OutputType(std::size_t i) const noexcept { return graph().value(graph().outputs()[i]).type; }
  /// Throws Error (kInvalidGraph), naming the attribute, if the counts differ.
  void ExpectArguments(std::size_t inputs, std::size_t outputs) const;
  /// Index into Node::captures() of the body's capture `i`.
  std::size_t capture(std::size_t i) const noexcept { return captures_[i]; }

 private:
  Program& program_;
  std::string attribute_;
  std::vector<std::size_t> captures_;
};

/// One run of a body after another, in the same memory. Derived classes say where outputs go.
class BodyIo : public BoundaryIo {
 public:
  explicit BodyIo(const Body& body) : body_(body), inputs_(body.input_count(), nullptr), runs_(body.program()) {}

  void Bind(std::size_t i, const Value& value) noexcept { inputs_[i] = &value; }
  /// @param context  of the node's run
  void Run(RuntimeContext& context) {
    context_ = &context;
    // A body may have no steps, and so no other place to ask.
    if (Cancellation* const cancellation = context.cancellation()) cancellation->Poll();
    runs_.Run(*this, context.parallel());
  }

  const Value& Input(std::size_t i) final {
    return i < inputs_.size() ? *inputs_[i] : context_->CaptureValue(body_.capture(i - inputs_.size()));
  }
  Cancellation* cancellation() noexcept final { return context_->cancellation(); }

 protected:
  RuntimeContext& context() noexcept { return *context_; }

 private:
  RuntimeContext* context_ = nullptr;
  const Body& body_;
  std::vector<const Value*> inputs_;
  Program::Runs runs_;
};

/// A value that goes from one run of a body to the next: the body reads one, and writes the other.
class CarriedValue {
 public:
  explicit CarriedValue(MemoryBudget* budget) : budget_(budget) {}

  /// Starts with a value that is only read.
  void Begin(const Value& initial) { current_ = initial; }

  const Value& current() const noexcept { return current_; }
  Tensor& MakeNext(ElementType type, std::span<const int64_t> dims);
  void SetNext(Value value) { next_ = std::move(value); }
  /// What was written last is read from now on.
  void Advance() noexcept;
  /// Publishes the current value as output `i` of the node, and holds no value any more.
  void Finish(RuntimeContext& context, std::size_t i);
  void Clear() noexcept;

 private:
  Value current_;
  Value next_;
  GrowingBuffer memory_;       // of next_
  GrowingBuffer read_memory_;  // of current_
  MemoryBudget* budget_;
};

/// Tensors of one type and shape that a body makes, one a run, kept one behind the other.
class StackedOutput {
 public:
  /// @param name  for messages, as `scan output 1`
  StackedOutput(std::string name, MemoryBudget* budget) : name_(std::move(name)), budget_(budget) {}

  /// Memory for the next tensor. Throws Error if its shape or type differs from the first one's.
  Tensor& Next(ElementType type, std::span<const int64_t> dims);
  /// Publishes all as output `i` of the node, joined along a new axis `axis`, and holds none any more.
  /// @param element  static type of one of them, for its extents when there is none; an unknown extent counts as 0
  /// @param backwards  the last one first
  void Finish(RuntimeContext& context, std::size_t i, const ValueType& element, int64_t axis, bool backwards);

 private:
  void Join(RuntimeContext& context, std::size_t i, const ValueType& element, int64_t axis, bool backwards) const;

  std::string name_;
  MemoryBudget* budget_;
  int64_t count_ = 0;
  Tensor last_;
  GrowingBuffer memory_;
  std::vector<Tensor> strings_;
  std::unique_ptr<TextMeter> text_;  // of strings_, if there is a budget
};

/// Gives back memory that is too large to be kept for a node's next run; the next nodes may need it.
inline void KeepSmall(GrowingBuffer& memory) noexcept {
  if (memory.capacity() > (std::size_t{1} << 20)) memory.Free();
}

/// Copies the part of `whole` at `index` of axis `axis` to `part`, which has the other extents.
void CopySlice(const Tensor& whole, std::size_t axis, int64_t index, Tensor& part);

}  // namespace light
