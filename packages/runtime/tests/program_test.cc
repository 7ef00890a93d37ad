// SPDX-License-Identifier: Apache-2.0
// The executor on toy operators: buffers, views, constants, outputs, failures, limits, threads.
#include <thread>

#include "check.h"
#include "light/error.h"
#include "toy_operators.h"

namespace toy {
namespace {

SessionConfig Config(const Operators& operators, int threads = 1) {
  SessionConfig config;
  config.intra_op_threads = threads;
  config.schemas = &operators.schemas;
  config.sources.native = &operators.kernels;
  return config;
}

KernelRegistration Inplace() {
  KernelRegistration registration;
  registration.may_inplace = {{0, 0}};
  return registration;
}

KernelRegistration View() {
  KernelRegistration registration;
  registration.aliases = {{0, 0}};
  return registration;
}

void AddStandard(Operators& operators) {
  operators.Add("Increment", 1, 1, Increment, {}, SameShape);
  operators.Add("IncrementInplace", 1, 1, Increment, Inplace(), SameShape);
  operators.Add("Sum", 2, 1, Sum, {}, SameShape);
  operators.Add(
      "View", 1, 1, [](RuntimeContext& context) { context.OutputView(0, 0, context.Input(0)->dims()); }, View(),
      SameShape);
}

ModelDef Chain(const std::string& op, int length, Shape shape = Shape::OfRank(1)) {
  ModelWriter writer(std::move(shape));
  writer.Input("x");
  for (int i = 0; i < length; ++i) {
    writer.Node(op, {i == 0 ? "x" : "t" + std::to_string(i - 1)}, {i + 1 == length ? "y" : "t" + std::to_string(i)});
  }
  return writer.Output("y").Take();
}

void ChainNeedsTwoSlotsAndFollowsShapes(const Operators& operators) {
  Session session(Chain("Increment", 10), Config(operators));
  CHECK((Read(session.Run({Floats({1, 2, 3})})[0]) == std::vector<float>{11, 12, 13}));
  CHECK(session.budget().used() == 2 * 64);
  CHECK((Read(session.Run({Floats(std::vector<float>(40, 0.0f))})[0]) == std::vector<float>(40, 10.0f)));
  CHECK(session.budget().used() == 2 * 192);
  CHECK(Read(session.Run({Floats({})})[0]).empty());
  CHECK((Read(session.Run({Floats({5})})[0]) == std::vector<float>{15}));
  CHECK(session.budget().used() == 2 * 192);
}

void InplaceNeedsOneSlot(const Operators& operators) {
  const std::vector<int64_t> extents = {3};
  Session session(Chain("IncrementInplace", 10, Shape::FromExtents(extents)), Config(operators));
  const Tensor x = Floats({1, 2, 3});
  CHECK((Read(session.Run({x})[0]) == std::vector<float>{11, 12, 13}));
  CHECK((Read(Value(x)) == std::vector<float>{1, 2, 3}));
  CHECK(session.budget().used() == 64);
}

void InplaceSurvivesAWrongStaticShape(Operators& operators) {
  // Declares its input's shape and returns three times as much.
  operators.Add(
      "Grows", 1, 1,
      [](RuntimeContext& context) {
        const Tensor& x = *context.Input(0);
        const int64_t extent = x.element_count() * 100;
        Tensor& y = context.Output(0, {&extent, 1});
        for (int64_t i = 0; i < extent; ++i) y.Data<float>()[i] = x.Data<float>()[i % x.element_count()];
      },
      Inplace(), SameShape);
  const std::vector<int64_t> extents = {2};
  ModelWriter writer(Shape::FromExtents(extents));
  writer.Input("x").Node("Increment", {"x"}, {"a"}).Node("Grows", {"a"}, {"b"}).Node("Increment", {"b"}, {"y"});
  Session session(writer.Output("y").Take(), Config(operators));
  for (int run = 0; run < 2; ++run) {
    const auto y = Read(session.Run({Floats({1, 2})})[0]);
    CHECK(y.size() == 200);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == (i % 2 == 0 ? 3.0f : 4.0f));
  }
}

void ViewsKeepTheirRootAlive(const Operators& operators) {
  // a's slot must not be reused for b and c while v, a view of a, is still to be read.
  ModelWriter writer;
  writer.Input("x").Node("Increment", {"x"}, {"a"}).Node("View", {"a"}, {"v"}).Node("Increment", {"x"}, {"b"});
  writer.Node("Increment", {"b"}, {"c"}).Node("Sum", {"v", "c"}, {"y"});
  Session session(writer.Output("y").Take(), Config(operators));
  CHECK((Read(session.Run({Floats({1, 10})})[0]) == std::vector<float>{5, 23}));
}

void OutputsNeverShareMemory(const Operators& operators) {
  ModelWriter writer;
  writer.Input("x").Initializer("w", Floats({7}));
  writer.Node("View", {"x"}, {"v"}).Node("Increment", {"x"}, {"i"}).Node("View", {"i"}, {"vi"});
  for (const char* name : {"x", "w", "v", "i", "i", "vi"}) writer.Output(name);
  Session session(writer.Take(), Config(operators));
  const Tensor x = Floats({1});
  const auto outputs = session.Run({x});
  const float expected[] = {1, 7, 1, 2, 2, 2};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    CHECK(Read(outputs[i])[0] == expected[i]);
    CHECK(outputs[i].tensor().data() != x.data());
    for (std::size_t k = 0; k < i; ++k) CHECK(outputs[i].tensor().data() != outputs[k].tensor().data());
  }
}

void DefaultsCanBeOverridden(const Operators& operators) {
  ModelWriter writer;
  writer.Input("x").Input("d").Initializer("d", Floats({100})).Node("Sum", {"x", "d"}, {"y"});
  Session session(writer.Output("y").Take(), Config(operators));
  CHECK(Read(session.Run({Floats({1}), Value()})[0])[0] == 101);
  CHECK(Read(session.Run({Floats({1}), Floats({2})})[0])[0] == 3);
  CHECK(Read(session.Run({Floats({1}), Value()})[0])[0] == 101);
}

void ConstantsAreComputedOnce(Operators& operators) {
  int calls = 0;
  operators.Add("CountedIncrement", 1, 1, [&calls](RuntimeContext& context) {
    ++calls;
    Increment(context);
  });
  ModelWriter writer;
  writer.Input("x").Initializer("w", Floats({1})).Node("CountedIncrement", {"w"}, {"c"});
  writer.Node("Sum", {"x", "c"}, {"y"});
  Session session(writer.Output("y").Output("c").Take(), Config(operators));
  CHECK(calls == 1);
  const auto outputs = session.Run({Floats({5})});
  CHECK(Read(outputs[0])[0] == 7 && Read(outputs[1])[0] == 2 && calls == 1);
  CHECK(Contains(session.program().assignment().nodes[0].reason, "computed at preparation"));
}

void FailuresNameTheNodeAndLeaveNothing(Operators& operators) {
  bool fail = true;
  operators.Add("MayFail", 1, 1, [&fail](RuntimeContext& context) {
    Increment(context);
    if (fail) throw Error(ErrorCode::kRuntimeException, "the toy broke", 77);
  });
  ModelWriter writer;
  writer.Input("x").Node("Increment", {"x"}, {"a"}).Node("MayFail", {"a"}, {"y"});
  Session session(writer.Output("y").Take(), Config(operators));
  const Error error = CHECK_THROWS(Error, session.Run({Floats({1})}));
  CHECK(Contains(error.what(), "'n1' (toy.MayFail): the toy broke"));
  CHECK(error.code() == ErrorCode::kRuntimeException && error.foreign_code() == 77);
  CHECK(session.budget().used() == 0);
  fail = false;
  CHECK(Read(session.Run({Floats({1})})[0])[0] == 3);
}

void OmittedOutputsMayBeComputed(Operators& operators) {
  operators.Add("TwoOutputs", 1, 2, [](RuntimeContext& context) {
    const Tensor& x = *context.Input(0);
    std::fill_n(context.Output(1, x.dims()).Data<float>(), x.element_count(), -1.0f);
    Increment(context);
  });
  ModelWriter writer;
  writer.Input("x").Node("TwoOutputs", {"x"}, {"y"});
  Session session(writer.Output("y").Take(), Config(operators));
  CHECK(Read(session.Run({Floats({1})})[0])[0] == 2);
}

void LimitsHoldToTheByte(const Operators& operators) {
  SessionConfig config = Config(operators);
  const auto run = [&](std::size_t limit) {
    config.memory_limit_bytes = limit;
    Session session(Chain("Increment", 3), config);
    session.Run({Floats(std::vector<float>(32, 0.0f))});
  };
  run(2 * 128);
  const Error error = CHECK_THROWS(Error, run(2 * 128 - 1));
  CHECK(Contains(error.what(), "needs 128 bytes, over the memory limit of 255 bytes"));
}

void InputsAreChecked(const Operators& operators) {
  const std::vector<int64_t> extents = {3};
  Session session(Chain("Increment", 1, Shape::FromExtents(extents)), Config(operators));
  const Error wrong = CHECK_THROWS(Error, session.Run({Floats({1, 2})}));
  CHECK(Contains(wrong.what(), "input 'x': expected tensor(float) [3], got tensor(float) [2]"));
  const int64_t extent = 3;
  const Value doubles(Tensor::Allocate(ElementType::kDouble, {&extent, 1}));
  CHECK(Contains(CHECK_THROWS(Error, session.Run({doubles})).what(), "got tensor(double) [3]"));
  CHECK(Contains(CHECK_THROWS(Error, session.Run({Value()})).what(), "got nothing"));
}

void ManyThreadsMayRunOneSession(const Operators& operators) {
  Session session(Chain("Increment", 20), Config(operators, 2));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&session, t] {
      for (int run = 0; run < 200; ++run) {
        const float x = static_cast<float>(t * 1000 + run);
        CHECK(Read(session.Run({Floats(std::vector<float>(1 + run % 7, x))})[0]).back() == x + 20);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace toy

int main() {
  toy::Operators operators;
  toy::AddStandard(operators);
  toy::ChainNeedsTwoSlotsAndFollowsShapes(operators);
  toy::InplaceNeedsOneSlot(operators);
  toy::InplaceSurvivesAWrongStaticShape(operators);
  toy::ViewsKeepTheirRootAlive(operators);
  toy::OutputsNeverShareMemory(operators);
  toy::DefaultsCanBeOverridden(operators);
  toy::ConstantsAreComputedOnce(operators);
  toy::FailuresNameTheNodeAndLeaveNothing(operators);
  toy::OmittedOutputsMayBeComputed(operators);
  toy::LimitsHoldToTheByte(operators);
  toy::InputsAreChecked(operators);
  toy::ManyThreadsMayRunOneSession(operators);
  return 0;
}
