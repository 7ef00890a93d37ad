// SPDX-License-Identifier: Apache-2.0
#include "bridge/custom_op_descriptor.h"

#include <ort_abi/callbacks.h>

#include "adapters/logger.h"
#include "adapters/status.h"
#include "light/assignment.h"

namespace ort_host {
namespace {

using conversions::ElementType;
using ort_abi::Has;
using ort_abi::StatusError;

constexpr std::size_t kMostArguments = 4096;
constexpr std::size_t kMostPairs = 4096;
constexpr int kLatestStart = 1000;

template <auto kMember, class... Args>
auto Ask(const OrtCustomOp& op, Args... args) {
  return ort_abi::Call<kMember, HostStatus>(&op, args...);
}

[[noreturn]] void Refuse(OrtErrorCode code, const char* member, const std::string& what) {
  throw StatusError(code, std::string("OrtCustomOp.") + member + ": " + what);
}

ElementType ToElementType(int number, const char* member) {
  const auto type = conversions::FromOrt(number);
  if (!type) Refuse(ORT_FAIL, member, "must be an element type, got " + std::to_string(number));
  return *type;
}

void SetCharacteristic(CustomOpArgument& argument, int characteristic, bool is_last, bool may_be_variadic,
                       const char* member) {
  switch (characteristic) {
    case INPUT_OUTPUT_REQUIRED:
      return;
    case INPUT_OUTPUT_OPTIONAL:
      argument.is_optional = true;
      return;
    case INPUT_OUTPUT_VARIADIC:
      if (!may_be_variadic) Refuse(ORT_FAIL, member, "VARIADIC exists since version 14 of the struct");
      if (!is_last) Refuse(ORT_FAIL, member, "only the last argument may be VARIADIC");
      argument.is_variadic = true;
      return;
    default:
      Refuse(ORT_FAIL, member, "must be REQUIRED, OPTIONAL or VARIADIC, got " + std::to_string(characteristic));
  }
}

/// How the members for inputs and for outputs are called; they work alike.
template <auto kCount, auto kType, auto kCharacteristic, auto kMinArity, auto kHomogeneity>
CustomOpArguments ReadArguments(const OrtCustomOp& op) {
  constexpr const char* kTypeName = ort_abi::MemberInfo<kType>::kName;
  constexpr const char* kCharacteristicName = ort_abi::MemberInfo<kCharacteristic>::kName;
  CustomOpArguments arguments;
  const std::size_t count = Ask<kCount>(op);
  if (count > kMostArguments) {
    Refuse(ORT_FAIL, ort_abi::MemberInfo<kCount>::kName,
           "at most " + std::to_string(kMostArguments) + " arguments, got " + std::to_string(count));
  }
  arguments.items.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    CustomOpArgument& argument = arguments.items[i];
    argument.element = ToElementType(Ask<kType>(op, i), kTypeName);
    // ORT reads this of older structs too, where it may be anything.
    if (!Has<kCharacteristic>(&op)) continue;
    SetCharacteristic(argument, Ask<kCharacteristic>(op, i), i + 1 == count,
                      op.version >= ort_abi::MemberInfo<kMinArity>::kSince, kCharacteristicName);
  }
  if (count > 0 && arguments.items.back().is_variadic) {
    if (Has<kMinArity>(&op)) arguments.min_arity = Ask<kMinArity>(op);
    if (arguments.min_arity < 0 || arguments.min_arity > static_cast<int>(kMostArguments)) {
      Refuse(ORT_FAIL, ort_abi::MemberInfo<kMinArity>::kName,
             "must be from 0 to " + std::to_string(kMostArguments) + ", got " + std::to_string(arguments.min_arity));
    }
    if (Has<kHomogeneity>(&op)) arguments.is_homogeneous = Ask<kHomogeneity>(op) != 0;
  }
  return arguments;
}

/// Reads index pairs that the library allocates, and gives them back on every way out.
template <auto kGet, auto kRelease>
std::vector<std::pair<int, int>> ReadPairs(const OrtCustomOp& op, const CustomOpDescriptor& descriptor) {
  std::vector<std::pair<int, int>> pairs;
  if (!Has<kGet>(&op)) return pairs;
  constexpr const char* kName = ort_abi::MemberInfo<kGet>::kName;
  if (!Has<kRelease>(&op)) Refuse(ORT_FAIL, kName, "needs its release function, got null");
  struct Arrays {
    const OrtCustomOp& op;
    const CustomOpDescriptor& descriptor;
    int* inputs = nullptr;
    int* outputs = nullptr;
    ~Arrays() {
      if (inputs == nullptr && outputs == nullptr) return;
      try {
        Ask<kRelease>(op, inputs, outputs);
      } catch (const std::exception& error) {
        LogLine(ORT_LOGGING_LEVEL_ERROR, descriptor.Label() + ": " + error.what());
      }
    }
  } arrays{op, descriptor};
  const std::size_t count = Ask<kGet>(op, &arrays.inputs, &arrays.outputs);
  if (count == 0) return pairs;
  if (count > kMostPairs || arrays.inputs == nullptr || arrays.outputs == nullptr) {
    Refuse(ORT_FAIL, kName, "must give both arrays of " + std::to_string(count) + " indices");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const int input = arrays.inputs[i];
    const int output = arrays.outputs[i];
    if (input < 0 || output < 0 || static_cast<std::size_t>(input) >= descriptor.inputs.items.size() ||
        static_cast<std::size_t>(output) >= descriptor.outputs.items.size()) {
      Refuse(ORT_FAIL, kName,
             "pair " + std::to_string(i) + " is out of range, got input " + std::to_string(input) + ", output " +
                 std::to_string(output));
    }
    pairs.emplace_back(input, output);
  }
  return pairs;
}

void ReadVersions(const OrtCustomOp& op, CustomOpDescriptor& descriptor) {
  if (!Has<&OrtCustomOp::GetStartVersion>(&op)) return;
  descriptor.start = Ask<&OrtCustomOp::GetStartVersion>(op);
  if (descriptor.start < 0 || descriptor.start > kLatestStart) {
    Refuse(ORT_INVALID_ARGUMENT, "GetStartVersion",
           "must be from 0 to " + std::to_string(kLatestStart) + ", got " + std::to_string(descriptor.start));
  }
  if (Has<&OrtCustomOp::GetEndVersion>(&op)) descriptor.end = Ask<&OrtCustomOp::GetEndVersion>(op);
}

void ReadMemoryTypes(const OrtCustomOp& op, CustomOpDescriptor& descriptor) {
  if (!Has<&OrtCustomOp::GetInputMemoryType>(&op)) return;
  for (std::size_t i = 0; i < descriptor.inputs.items.size(); ++i) {
    const int memory = Ask<&OrtCustomOp::GetInputMemoryType>(op, i);
    if (memory != OrtMemTypeDefault && memory != OrtMemTypeCPUInput && memory != OrtMemTypeCPUOutput) {
      Refuse(ORT_FAIL, "GetInputMemoryType",
             "of input " + std::to_string(i) + " must be a memory type, got " + std::to_string(memory));
    }
    descriptor.inputs.items[i].memory = static_cast<OrtMemType>(memory);
  }
}

bool HasKernelCallbacks(const OrtCustomOp& op) noexcept {
  return (Has<&OrtCustomOp::CreateKernelV2>(&op) || op.CreateKernel != nullptr) &&
         (Has<&OrtCustomOp::KernelComputeV2>(&op) || op.KernelCompute != nullptr);
}

void ChooseKernelCallbacks(const OrtCustomOp& op, CustomOpDescriptor& descriptor) {
  // The version decides first, V2 second: wrappers that use V2 leave the legacy pointers uninitialised.
  descriptor.creates_by_v2 = Has<&OrtCustomOp::CreateKernelV2>(&op);
  descriptor.computes_by_v2 = Has<&OrtCustomOp::KernelComputeV2>(&op);
  if (!descriptor.creates_by_v2 && op.CreateKernel == nullptr) {
    Refuse(ORT_FAIL, "CreateKernel", "one of CreateKernel and CreateKernelV2 is required, got null");
  }
  if (!descriptor.computes_by_v2 && op.KernelCompute == nullptr) {
    Refuse(ORT_FAIL, "KernelCompute", "one of KernelCompute and KernelComputeV2 is required, got null");
  }
  if (op.KernelDestroy == nullptr) Refuse(ORT_FAIL, "KernelDestroy", "is required, got null");
}

CustomOpDescriptor NewDescriptor(const OrtCustomOp& op, const std::string& domain, std::size_t position,
                                 std::shared_ptr<LoadedLibrary> library) {
  CustomOpDescriptor descriptor;
  descriptor.op = &op;
  descriptor.library = std::move(library);
  descriptor.domain = domain;
  descriptor.position = position;
  return descriptor;
}

void ReadAll(const OrtCustomOp& op, CustomOpDescriptor& descriptor, const std::string& supplier = "") {
  CheckCustomOpVersion(op);
  const char* name = Ask<&OrtCustomOp::GetName>(op);
  if (name == nullptr) Refuse(ORT_FAIL, "GetName", "must give a name, got null");
  descriptor.name = name;
  descriptor.inputs =
      ReadArguments<&OrtCustomOp::GetInputTypeCount, &OrtCustomOp::GetInputType, &OrtCustomOp::GetInputCharacteristic,
                    &OrtCustomOp::GetVariadicInputMinArity, &OrtCustomOp::GetVariadicInputHomogeneity>(op);
  descriptor.outputs = ReadArguments<&OrtCustomOp::GetOutputTypeCount, &OrtCustomOp::GetOutputType,
                                     &OrtCustomOp::GetOutputCharacteristic, &OrtCustomOp::GetVariadicOutputMinArity,
                                     &OrtCustomOp::GetVariadicOutputHomogeneity>(op);
  ReadMemoryTypes(op, descriptor);
  const char* provider =
      Has<&OrtCustomOp::GetExecutionProviderType>(&op) ? Ask<&OrtCustomOp::GetExecutionProviderType>(op) : nullptr;
  descriptor.provider = provider != nullptr ? provider : light::kCpuProvider;
  ReadVersions(op, descriptor);
  descriptor.may_inplace = ReadPairs<&OrtCustomOp::GetMayInplace, &OrtCustomOp::ReleaseMayInplace>(op, descriptor);
  descriptor.aliases = ReadPairs<&OrtCustomOp::GetAliasMap, &OrtCustomOp::ReleaseAliasMap>(op, descriptor);
  descriptor.has_inference = Has<&OrtCustomOp::InferOutputShapeFn>(&op);
  if (!supplier.empty() && !HasKernelCallbacks(op)) {
    if (provider == nullptr) descriptor.provider = supplier;
    return;
  }
  ChooseKernelCallbacks(op, descriptor);
}

}  // namespace

const CustomOpArgument* CustomOpArguments::At(std::size_t i) const noexcept {
  if (i < items.size()) return &items[i];
  return !items.empty() && items.back().is_variadic ? &items.back() : nullptr;
}

int CustomOpArguments::Least() const noexcept {
  const int count = static_cast<int>(items.size());
  if (count > 0 && items.back().is_variadic) return count - 1 + min_arity;
  int least = count;
  while (least > 0 && items[static_cast<std::size_t>(least) - 1].is_optional) --least;
  return least;
}

int CustomOpArguments::Most() const noexcept {
  return !items.empty() && items.back().is_variadic ? INT_MAX : static_cast<int>(items.size());
}

std::string CustomOpArguments::ToString() const {
  std::string text = "(";
  for (const CustomOpArgument& item : items) {
    if (text.size() > 1) text += ", ";
    if (item.is_variadic) text += "...";
    text += item.takes_any() ? "any" : conversions::Name(item.element);
    if (item.is_optional) text += "?";
  }
  return text + ")";
}

std::string CustomOpDescriptor::Label() const {
  return "custom op " + (domain.empty() ? "" : domain + ".") + name + " (#" + std::to_string(position) +
         " of its domain, from " + library->path() + ")";
}

void CheckCustomOpVersion(const OrtCustomOp& op) {
  if (op.version == 0) throw StatusError(ORT_FAIL, "OrtCustomOp: version must be an API version, got 0");
  if (op.version == 6 || op.version == 7) {
    throw StatusError(ORT_FAIL, "OrtCustomOp: version 6 and 7 had another table layout and are not served, got " +
                                    std::to_string(op.version));
  }
}

CustomOpDescriptor ReadCustomOp(const OrtCustomOp& op, const std::string& domain, std::size_t position,
                                std::shared_ptr<LoadedLibrary> library, const std::string& provider) {
  CustomOpDescriptor descriptor = NewDescriptor(op, domain, position, std::move(library));
  try {
    ReadAll(op, descriptor, provider);
  } catch (const StatusError& error) {
    throw StatusError(error.code(), descriptor.Label() + ": " + error.what());
  }
  return descriptor;
}

CustomOpDescriptor InspectCustomOp(const OrtCustomOp& op, const std::string& domain, std::size_t position,
                                   std::shared_ptr<LoadedLibrary> library, std::string& problem,
                                   const std::string& provider) {
  CustomOpDescriptor descriptor = NewDescriptor(op, domain, position, std::move(library));
  try {
    ReadAll(op, descriptor, provider);
  } catch (const StatusError& error) {
    problem = error.what();
  }
  return descriptor;
}

}  // namespace ort_host
