// SPDX-License-Identifier: Apache-2.0
// How descriptors are read and overloads sorted. What a session makes of them is tested through Python.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include <ort_abi/status_error.h>

#include "bridge/custom_op_descriptor.h"
#include "bridge/custom_op_versions.h"
#include "check.h"

namespace {

using namespace ort_host;
using ort_abi::StatusError;

std::shared_ptr<LoadedLibrary> g_library;

/// A struct that ends where its version ends: the next byte cannot be read.
class GuardedOp {
 public:
  GuardedOp(uint32_t version, std::size_t bytes) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* pages = mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    pages_ = static_cast<char*>(pages);
    CHECK(mprotect(pages_ + page_, page_, PROT_NONE) == 0);
    OrtCustomOp whole = {};
    whole.version = version;
    whole.CreateKernel = [](const OrtCustomOp*, const OrtApi*, const OrtKernelInfo*) -> void* { return nullptr; };
    whole.GetName = [](const OrtCustomOp*) { return "Guarded"; };
    whole.GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
    whole.GetInputType = [](const OrtCustomOp*, std::size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
    whole.GetInputTypeCount = [](const OrtCustomOp*) -> std::size_t { return 2; };
    whole.GetOutputType = [](const OrtCustomOp*, std::size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64; };
    whole.GetOutputTypeCount = [](const OrtCustomOp*) -> std::size_t { return 1; };
    whole.KernelCompute = [](void*, OrtKernelContext*) {};
    whole.KernelDestroy = [](void*) {};
    whole.GetInputCharacteristic = [](const OrtCustomOp*, std::size_t i) {
      return i == 0 ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
    };
    whole.GetOutputCharacteristic = [](const OrtCustomOp*, std::size_t) { return INPUT_OUTPUT_REQUIRED; };
    whole.GetStartVersion = [](const OrtCustomOp*) { return 3; };
    whole.GetEndVersion = [](const OrtCustomOp*) { return 5; };
    std::memcpy(pages_ + page_ - bytes, &whole, bytes);
    op_ = pages_ + page_ - bytes;
  }
  ~GuardedOp() { munmap(pages_, 2 * page_); }
  GuardedOp(const GuardedOp&) = delete;

  const OrtCustomOp& op() const noexcept { return *reinterpret_cast<const OrtCustomOp*>(op_); }

 private:
  std::size_t page_;
  char* pages_ = nullptr;
  char* op_ = nullptr;
};

CustomOpDescriptor ReadOp(const OrtCustomOp& op) { return ReadCustomOp(op, "test", 0, g_library); }

void TestReadsNothingBehindTheStructsEnd() {
  const struct {
    uint32_t version;
    std::size_t bytes;
    bool has_characteristics;
    bool has_versions;
  } layouts[] = {
      {1, offsetof(OrtCustomOp, GetInputCharacteristic), false, false},
      {5, offsetof(OrtCustomOp, GetInputCharacteristic), false, false},
      {8, offsetof(OrtCustomOp, GetInputMemoryType), true, false},
      {13, offsetof(OrtCustomOp, GetInputMemoryType), true, false},
      {14, offsetof(OrtCustomOp, CreateKernelV2), true, false},
      {15, offsetof(OrtCustomOp, CreateKernelV2), true, false},
      {16, offsetof(OrtCustomOp, InferOutputShapeFn), true, false},
      {17, offsetof(OrtCustomOp, GetMayInplace), true, true},
      {18, sizeof(OrtCustomOp), true, true},
      {99, sizeof(OrtCustomOp), true, true},
  };
  for (const auto& layout : layouts) {
    const GuardedOp guarded(layout.version, layout.bytes);
    const CustomOpDescriptor op = ReadOp(guarded.op());
    CHECK(op.name == "Guarded");
    CHECK(op.inputs.items.size() == 2);
    CHECK(op.inputs.items[1].is_optional == layout.has_characteristics);
    CHECK(op.inputs.Least() == (layout.has_characteristics ? 1 : 2));
    CHECK(op.start == (layout.has_versions ? 3 : 1));
    CHECK(op.end == (layout.has_versions ? 5 : INT_MAX));
    CHECK(!op.creates_by_v2);
    CHECK(op.provider == "CPUExecutionProvider");
  }
}

void TestRefusesUnknownLayouts() {
  for (const uint32_t version : {0u, 6u, 7u}) {
    const GuardedOp guarded(version, sizeof(OrtCustomOp));
    const StatusError error = CHECK_THROWS(StatusError, CheckCustomOpVersion(guarded.op()));
    CHECK(error.code() == ORT_FAIL);
    CHECK(Contains(error.what(), "OrtCustomOp: version"));
    CHECK(Contains(CHECK_THROWS(StatusError, ReadOp(guarded.op())).what(), "version"));
  }
}

OrtCustomOp CopyOfGood() { return GuardedOp(30, sizeof(OrtCustomOp)).op(); }

void TestMissingCallbacksAreNamed() {
  OrtCustomOp op = CopyOfGood();
  op.KernelDestroy = nullptr;
  CHECK(Contains(CHECK_THROWS(StatusError, ReadOp(op)).what(), "KernelDestroy"));
  op = CopyOfGood();
  op.CreateKernel = nullptr;
  CHECK(Contains(CHECK_THROWS(StatusError, ReadOp(op)).what(), "CreateKernel"));
  op = CopyOfGood();
  op.GetInputTypeCount = nullptr;
  CHECK(Contains(CHECK_THROWS(StatusError, ReadOp(op)).what(), "GetInputTypeCount"));
  op = CopyOfGood();
  op.GetName = [](const OrtCustomOp*) -> const char* { return nullptr; };
  CHECK(Contains(CHECK_THROWS(StatusError, ReadOp(op)).what(), "GetName"));
}

void TestMalformedAnswersAreRefused() {
  OrtCustomOp op = CopyOfGood();
  op.GetInputTypeCount = [](const OrtCustomOp*) { return ~std::size_t{0}; };
  CHECK(Contains(CHECK_THROWS(StatusError, ReadOp(op)).what(), "GetInputTypeCount"));
  op = CopyOfGood();
  op.GetInputType = [](const OrtCustomOp*, std::size_t) { return static_cast<ONNXTensorElementDataType>(1000); };
  CHECK(Contains(CHECK_THROWS(StatusError, ReadOp(op)).what(), "got 1000"));
  op = CopyOfGood();
  op.GetStartVersion = [](const OrtCustomOp*) { return 1001; };
  CHECK(CHECK_THROWS(StatusError, ReadOp(op)).code() == ORT_INVALID_ARGUMENT);
  op = CopyOfGood();
  op.GetInputCharacteristic = [](const OrtCustomOp*, std::size_t) { return INPUT_OUTPUT_VARIADIC; };
  CHECK(Contains(CHECK_THROWS(StatusError, ReadOp(op)).what(), "only the last"));
  op = CopyOfGood();
  op.GetMayInplace = [](int**, int**) -> std::size_t { return 0; };
  op.ReleaseMayInplace = nullptr;
  CHECK(Contains(CHECK_THROWS(StatusError, ReadOp(op)).what(), "release"));
}

CustomOpPtr MakeOp(conversions::ElementType input, int start = 1, int end = INT_MAX) {
  auto op = std::make_shared<CustomOpDescriptor>();
  op->library = g_library;
  op->name = "Op";
  op->provider = "CPUExecutionProvider";
  op->inputs.items.resize(1);
  op->inputs.items[0].element = input;
  op->outputs.items.resize(1);
  op->outputs.items[0].element = conversions::ElementType::kFloat;
  op->start = start;
  op->end = end;
  return op;
}

constexpr auto kFloat = conversions::ElementType::kFloat;
constexpr auto kDouble = conversions::ElementType::kDouble;

void TestVersionsAreSplit() {
  const auto one = MakeOp(kFloat, 1, 2), late = MakeOp(kFloat, 5), wide = MakeOp(kDouble, 2, 6);
  const auto versions = SortByVersion({one, late, wide});
  CHECK(versions.size() == 5);
  CHECK(versions[0].since == 1 && versions[0].until == 1);
  CHECK(versions[0].overloads == std::vector<CustomOpPtr>({one}));
  CHECK(versions[1].since == 2 && versions[1].until == 2);
  CHECK(versions[1].overloads == std::vector<CustomOpPtr>({one, wide}));
  CHECK(versions[2].since == 3 && versions[2].until == 4);
  CHECK(versions[2].overloads == std::vector<CustomOpPtr>({wide}));
  CHECK(versions[3].since == 5 && versions[3].until == 6);
  CHECK(versions[3].overloads == std::vector<CustomOpPtr>({late, wide}));
  CHECK(versions[4].since == 7 && versions[4].until == INT_MAX);
  CHECK(versions[4].overloads == std::vector<CustomOpPtr>({late}));
}

void TestFirstAddedServesWhereNobodyDoes() {
  const auto first = MakeOp(kFloat, 1, 2), same_start = MakeOp(kDouble, 1, 3), late = MakeOp(kFloat, 9, 9);
  const auto versions = SortByVersion({first, same_start, late});
  CHECK(versions.size() == 5);
  CHECK(versions[2].since == 4 && versions[2].is_fallback);
  CHECK(versions[2].overloads == std::vector<CustomOpPtr>({first, same_start}));
  CHECK(!versions[3].is_fallback);
  CHECK(versions[4].since == 10 && versions[4].is_fallback);
  const auto backwards = MakeOp(kFloat, 4, 2);
  const auto only = SortByVersion({backwards});
  CHECK(only.size() == 1);
  CHECK(only[0].is_fallback && only[0].since == 4);
}

void TestOverloadsAreCheckedAgainstEachOther() {
  const std::string duplicate = CHECK_THROWS(StatusError, SortByVersion({MakeOp(kFloat), MakeOp(kFloat)})).what();
  CHECK(Contains(duplicate, "has the types and versions of"));
  CHECK(Contains(duplicate, g_library->path()));
  auto more = std::make_shared<CustomOpDescriptor>(*MakeOp(kDouble));
  more->inputs.items.resize(2);
  CHECK(Contains(CHECK_THROWS(StatusError, SortByVersion({MakeOp(kFloat), more})).what(), "number of inputs, 1 and 2"));
  auto variadic = std::make_shared<CustomOpDescriptor>(*MakeOp(kDouble));
  variadic->outputs.items[0].is_variadic = true;
  CHECK(Contains(CHECK_THROWS(StatusError, SortByVersion({MakeOp(kFloat), variadic})).what(),
                 "characteristic of output 0"));
  auto untyped = std::make_shared<CustomOpDescriptor>(*MakeOp(kFloat));
  untyped->outputs.items[0].element = conversions::ElementType::kUndefined;
  CHECK(Contains(CHECK_THROWS(StatusError, SortByVersion({untyped})).what(), "type of output 0"));
  untyped->has_inference = true;
  CHECK(SortByVersion({untyped}).size() == 1);
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 2);
  g_library = LoadLibrary(std::string(argv[1]) + "/sample.so", "SampleAnswer");
  TestReadsNothingBehindTheStructsEnd();
  TestRefusesUnknownLayouts();
  TestMissingCallbacksAreNamed();
  TestMalformedAnswersAreRefused();
  TestVersionsAreSplit();
  TestFirstAddedServesWhereNobodyDoes();
  TestOverloadsAreCheckedAgainstEachOther();
  return 0;
}
