// A custom operator in one file: SoftShrink(x; threshold = 0.5) pulls each element towards 0 by `threshold`.
#include <cmath>
#include <vector>

#include <ort_abi/ort_c_api.h>

namespace {

const OrtApi* api = nullptr;  // the table of the host that loaded this library

// Returns from the enclosing function with the status of a call that failed.
#define TRY(call)                                    \
  do {                                               \
    if (OrtStatus* status_ = (call)) return status_; \
  } while (false)

struct Kernel {
  float threshold;
};

OrtStatus* CreateKernel(const OrtCustomOp*, const OrtApi*, const OrtKernelInfo* info, void** kernel) {
  float threshold = 0.5f;
  if (OrtStatus* status = api->KernelInfoGetAttribute_float(info, "threshold", &threshold)) {
    api->ReleaseStatus(status);  // not written on the node: the default stays
    threshold = 0.5f;
  }
  if (threshold < 0) return api->CreateStatus(ORT_INVALID_ARGUMENT, "SoftShrink: threshold must not be negative");
  *kernel = new Kernel{threshold};
  return nullptr;
}

OrtStatus* Compute(void* kernel, OrtKernelContext* context) {
  const float threshold = static_cast<Kernel*>(kernel)->threshold;
  const OrtValue* x = nullptr;
  TRY(api->KernelContext_GetInput(context, 0, &x));

  OrtTensorTypeAndShapeInfo* shape = nullptr;
  TRY(api->GetTensorTypeAndShape(x, &shape));
  size_t rank = 0, count = 0;
  OrtStatus* status = api->GetDimensionsCount(shape, &rank);
  std::vector<int64_t> dims(rank);
  if (status == nullptr) status = api->GetDimensions(shape, dims.data(), rank);
  if (status == nullptr) status = api->GetTensorShapeElementCount(shape, &count);
  api->ReleaseTensorTypeAndShapeInfo(shape);
  TRY(status);

  OrtValue* y = nullptr;
  TRY(api->KernelContext_GetOutput(context, 0, dims.data(), rank, &y));
  const void* from = nullptr;
  void* to = nullptr;
  TRY(api->GetTensorData(x, &from));
  TRY(api->GetTensorMutableData(y, &to));
  for (size_t i = 0; i < count; ++i) {
    const float value = static_cast<const float*>(from)[i];
    static_cast<float*>(to)[i] = std::copysign(std::fmax(std::fabs(value) - threshold, 0.0f), value);
  }
  return nullptr;
}

OrtCustomOp MakeOp() {
  OrtCustomOp op{};
  op.version = ORT_API_VERSION;
  op.GetName = [](const OrtCustomOp*) { return "SoftShrink"; };
  op.GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };  // the CPU
  op.GetInputTypeCount = op.GetOutputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
  op.GetInputType = op.GetOutputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
  op.GetInputCharacteristic =
      op.GetOutputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
  op.GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
  op.CreateKernelV2 = CreateKernel;
  op.KernelComputeV2 = Compute;
  op.KernelDestroy = [](void* kernel) { delete static_cast<Kernel*>(kernel); };
  return op;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus* RegisterCustomOps(OrtSessionOptions* options,
                                                                               const OrtApiBase* base) {
  api = base->GetApi(ORT_API_VERSION);
  if (api == nullptr) return nullptr;  // an older host; it has logged that it cannot serve this version
  static const OrtCustomOp op = MakeOp();
  OrtCustomOpDomain* domain = nullptr;  // lives as long as the options: never released on success
  TRY(api->CreateCustomOpDomain("my.domain", &domain));
  TRY(api->CustomOpDomain_Add(domain, &op));
  return api->AddCustomOpDomain(options, domain);
}
