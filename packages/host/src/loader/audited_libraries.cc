// SPDX-License-Identifier: Apache-2.0
#include "loader/audited_libraries.h"

#include <filesystem>

#include "loader/sha256.h"

namespace ort_host {
namespace {

constexpr AuditedLibrary kAudited[] = {
    {"nxrt-ep-cpu", "0.1.0.dev6", "libonnx_runtime_ep_cpu_plugin.so", 9123104,
     "fab80e3935f344c8b4ce4c5923503bccea9a5e5906199788ba20a63931abb829", "kernel_ep,compiling_ep", 29},
    {"onnx-extended tutorial", "0.5.0", "libortops_tutorial_cpu.so", 187425,
     "e475cdbc59cbe9a6cedd244b0c70cb81b4dacff8fd90e352740f52a3fa85fde9", "custom_ops", 16},
    {"onnxruntime-ep-openvino", "1.8.1", "libonnxruntime_providers_openvino_plugin.so", 3069280,
     "99644306dea90173d2fac5e2ad8d10c9574ecf6e6e71ca30e426531abd5a717f", "compiling_ep", 30},
    {"onnxruntime-extensions", "0.15.2", "_extensions_pydll.cpython-311-x86_64-linux-gnu.so", 7044704,
     "7b5db3bb6b0e0eba59b055bf21f14b859cd97c4298303e96aa0b009449568e02", "custom_ops,string_tensors", 30},
    {"onnxruntime-ggml", "0.2.0", "libonnxruntime_ggml.so", 74962065,
     "b50f9aa48fe6ef23318ce7d3f34827575aae03a83fb378a2badb2c4d4b0f31fb", "compiling_ep", 29, "split"},
};

}  // namespace

std::span<const AuditedLibrary> AuditedLibraries() noexcept { return kAudited; }

const AuditedLibrary* FindAudited(const std::string& path) {
  const std::filesystem::path file(path);
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(file, failed);
  if (failed) return nullptr;
  for (const AuditedLibrary& library : kAudited) {
    if (file.filename() == library.file_name && bytes == library.bytes && Sha256OfFile(path) == library.sha256) {
      return &library;
    }
  }
  return nullptr;
}

}  // namespace ort_host
