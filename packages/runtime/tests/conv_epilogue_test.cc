// SPDX-License-Identifier: Apache-2.0
// Every kind of convolution with a residual and Relu in the same pass: y = Relu(Conv(x, w, b) + x), where x and y have
// the same extents, on every instruction set that this machine has, in every layout, against sums in float64.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "check.h"
#include "kernels/epilogue.h"
#include "kernels/simd_dispatch.h"
#include "light/graph_builder.h"
#include "light/kernel_registry.h"
#include "light/program.h"

namespace {

using namespace light;  // NOLINT: a test

struct Layer {
  int64_t batch, channels, height, width, kernel, dilation, groups;
  bool relu;
  bool bias = true;
};

const Layer kLayers[] = {
    {2, 18, 13, 21, 3, 1, 1, true},                                        // Winograd's transform
    {1, 32, 8, 8, 3, 1, 1, false},                                         // the same, of few tiles
    {1, 5, 9, 37, 3, 1, 1, true},                                          // patches
    {2, 24, 10, 11, 1, 1, 1, true},                                        // the plane itself
    {1, 12, 11, 40, 3, 2, 2, false},                                       // patches, groups, dilated
    {2, 9, 17, 19, 3, 1, 9, true},                                         // depthwise
    {1, 8, 64, 64, 3, 1, 1, true},                                         // patches of many panels
    {1, 12, 7, 8, 1, 1, 1, true, false},   {1, 6, 12, 50, 5, 1, 2, true},  // few filters per group: row by row
    {3, 29, 5, 6, 3, 1, 1, true},                                          // the transform, with vectors half full
    {2, 29, 9, 10, 5, 1, 1, true},                                         // patches of them
    {1, 40, 23, 26, 3, 2, 1, true, false},                                 // dilated
    {2, 16, 1, 1, 1, 1, 1, true},                                          // one pixel
};

constexpr Layouts kLayouts[] = {{false, false}, {false, true}, {true, false}, {true, true}};

Tensor Random(std::mt19937& engine, std::vector<int64_t> extents) {
  std::uniform_real_distribution<float> value(-1, 1);
  Tensor tensor = Tensor::Allocate(ElementType::kFloat, extents);
  for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.Data<float>()[i] = value(engine);
  return tensor;
}

/// Threads that are all busy: a loop gets its whole range at once, although there might have been several.
class BusyBackend final : public ParallelBackend {
 public:
  void ParallelFor(int64_t total, double, RangeFn body) override {
    if (total > 0) body(0, total);
  }
  int thread_count() const noexcept override { return 3; }
};

class OneTensor final : public BoundaryIo {
 public:
  explicit OneTensor(const Tensor& x) : x_(x) {}
  const Value& Input(std::size_t) override { return x_; }
  Tensor& CreateOutput(std::size_t, ElementType type, std::span<const int64_t> dims) override {
    return y = Tensor::Allocate(type, dims);
  }
  void SetOutput(std::size_t, Value) override { CHECK(false); }

 private:
  const Value x_;

 public:
  Tensor y;
};

KernelRegistry WithEpilogue(const Epilogue& epilogue, const Layouts& layouts) {
  KernelRegistry registry;
  KernelRegistration registration;
  registration.op_type = "Conv";
  registration.kernel_name = "test::Conv";
  registry.RegisterKernelFn(std::move(registration), [&epilogue, &layouts](const KernelInfo& info) {
    const KernelEntry* entry = NativeKernels().Find(info.graph(), info.node(), nullptr);
    CHECK(entry != nullptr && entry->registration.epilogue.residual && entry->registration.epilogue.relu);
    return entry->make(KernelInfo(info.graph(), info.node(), info.budget(), nullptr, {}, &epilogue, {}, layouts));
  });
  return registry;
}

ModelDef MakeModel(const Layer& l, const Tensor& w, const Tensor& b) {
  ModelDef model;
  model.ir_version = 8;
  model.opset_imports = {{"", 17}};
  const int64_t extents[] = {l.batch, l.channels, l.height, l.width};
  const ValueType type = ValueType::Tensor(ElementType::kFloat, Shape::FromExtents(extents));
  NodeDef node;
  node.op_type = "Conv";
  node.inputs = {"x", "w"};
  if (l.bias) node.inputs.push_back("b");
  node.outputs = {"y"};
  node.attributes = {
      {"group", AttributeKind::kInt, l.groups, ""},
      {"dilations", AttributeKind::kInts, std::vector<int64_t>(2, l.dilation), ""},
      {"pads", AttributeKind::kInts, std::vector<int64_t>(4, l.kernel / 2 * l.dilation), ""},
  };
  model.graph.name = "conv";
  model.graph.nodes = {node};
  model.graph.inputs = {{"x", type}};
  model.graph.outputs = {{"y", type}};
  model.graph.initializers = {{"w", w, nullptr}};
  if (l.bias) model.graph.initializers.push_back({"b", b, nullptr});
  return model;
}

/// The same elements with their channels last.
Tensor TurnAround(const Tensor& x) {
  Tensor turned = Tensor::Allocate(ElementType::kFloat, x.dims());
  const int64_t channels = x.dim(1), plane = x.dim(2) * x.dim(3);
  for (int64_t i = 0; i < x.element_count(); ++i)
    turned.Data<float>()[(i / plane / channels * plane + i % plane) * channels + i / plane % channels] =
        x.Data<float>()[i];
  return turned;
}

bool CanTake(const Layer& l, const Layouts& layouts) {
  const bool alike = layouts.input_last == layouts.output_last;
  return !layouts.any() || (l.groups == 1 && l.channels >= 16) || (l.groups == l.channels && alike);
}

/// @param threads  of the run; 0: three that are busy
void TestLayer(const Layer& l, int threads, const Layouts& layouts) {
  // What is added lies as the result does.
  const bool residual = layouts.input_last == layouts.output_last;
  std::mt19937 engine(9);
  const int64_t depth = l.channels / l.groups, pad = l.kernel / 2 * l.dilation;
  const Tensor x = Random(engine, {l.batch, l.channels, l.height, l.width});
  const Tensor w = Random(engine, {l.channels, depth, l.kernel, l.kernel}), b = Random(engine, {l.channels});
  const Epilogue epilogue = {.residual_input = residual ? 0 : -1, .relu = l.relu};
  const KernelRegistry registry = WithEpilogue(epilogue, layouts);
  AssignmentSources sources;
  sources.native = &registry;
  const std::shared_ptr<const Graph> graph = GraphBuilder(OnnxSchemas()).Build(MakeModel(l, w, b));
  const std::unique_ptr<Program> program = Program::Lower(graph, AssignNodes(*graph, sources));
  OneTensor boundary(layouts.input_last ? TurnAround(x) : x);
  BusyBackend busy;
  const std::shared_ptr<ParallelBackend> pool = AcquirePool(std::max(threads, 1));
  program->Run(boundary, threads > 0 ? *pool : busy);
  const float* y = boundary.y.Data<float>();
  const auto at = [&](int64_t image, int64_t c, int64_t i, int64_t j) {
    return ((image * l.channels + c) * l.height + i) * l.width + j;
  };
  const auto at_y = [&](int64_t image, int64_t c, int64_t i, int64_t j) {
    return layouts.output_last ? ((image * l.height + i) * l.width + j) * l.channels + c : at(image, c, i, j);
  };
  for (int64_t image = 0; image < l.batch; ++image)
    for (int64_t f = 0; f < l.channels; ++f)
      for (int64_t i = 0; i < l.height; ++i)
        for (int64_t j = 0; j < l.width; ++j) {
          double want = (l.bias ? b.Data<float>()[f] : 0) + (residual ? x.Data<float>()[at(image, f, i, j)] : 0);
          for (int64_t c = 0; c < depth; ++c)
            for (int64_t p = 0; p < l.kernel * l.kernel; ++p) {
              const int64_t row = i - pad + p / l.kernel * l.dilation, column = j - pad + p % l.kernel * l.dilation;
              if (row < 0 || row >= l.height || column < 0 || column >= l.width) continue;
              want += static_cast<double>(w.Data<float>()[(f * depth + c) * l.kernel * l.kernel + p]) *
                      x.Data<float>()[at(image, f / depth * depth + c, row, column)];
            }
          if (l.relu) want = std::max(want, 0.0);
          CHECK(std::abs(y[at_y(image, f, i, j)] - want) < 2e-4);  // of sums of up to 725 products
        }
}

}  // namespace

int main() {
  for (const simd::SimdTable* level : SupportedSimdLevels()) {
    // A process uses one level.
    const pid_t child = fork();
    if (child == 0) {
      setenv("ONNX_LIGHT_SIMD", level->name, 1);
      for (const Layer& layer : kLayers)
        for (const int threads : {0, 1, 3})
          for (const Layouts& layouts : kLayouts)
            if (CanTake(layer, layouts)) TestLayer(layer, threads, layouts);
      return 0;
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  return 0;
}
