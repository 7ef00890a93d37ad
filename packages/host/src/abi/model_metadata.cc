// SPDX-License-Identifier: Apache-2.0
#include "adapters/model_metadata.h"

#include <limits>

#include "abi/sections.h"
#include "abi/string_blocks.h"

namespace ort_host::abi {
namespace {

/// What ORT answers for a model without a version of its own.
constexpr int64_t kNoVersion = std::numeric_limits<int64_t>::max();

OrtStatus* NoMemory(Slot slot) { return slot.Fail(ORT_FAIL, "allocator: has no memory for the text"); }

/// A copy of what `read` gives, which the library frees through the allocator.
template <class Read>
OrtStatus* CopyOut(const char* name, const OrtModelMetadata* metadata, OrtAllocator* allocator, char** value,
                   Read&& read) noexcept {
  return Guard(name, [&](Slot slot) -> OrtStatus* {
    const std::string& text = read(Borrow(metadata));
    RequireCpuMemory(BorrowAllocator(allocator));
    const auto destination = Out(value, "value");
    char* copy = CopyText(allocator, text);
    if (copy == nullptr) return NoMemory(slot);
    destination = copy;
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL ModelMetadataGetProducerName(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                                     char** value) noexcept {
  return CopyOut("ModelMetadataGetProducerName", model_metadata, allocator, value,
                 [](const ModelMetadataAdapter& metadata) -> auto& { return metadata.model().producer_name; });
}

OrtStatus* ORT_API_CALL ModelMetadataGetGraphName(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                                  char** value) noexcept {
  return CopyOut("ModelMetadataGetGraphName", model_metadata, allocator, value,
                 [](const ModelMetadataAdapter& metadata) -> auto& { return metadata.graph_name(); });
}

OrtStatus* ORT_API_CALL ModelMetadataGetDomain(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                               char** value) noexcept {
  return CopyOut("ModelMetadataGetDomain", model_metadata, allocator, value,
                 [](const ModelMetadataAdapter& metadata) -> auto& { return metadata.model().domain; });
}

OrtStatus* ORT_API_CALL ModelMetadataGetDescription(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                                    char** value) noexcept {
  return CopyOut("ModelMetadataGetDescription", model_metadata, allocator, value,
                 [](const ModelMetadataAdapter& metadata) -> auto& { return metadata.model().doc_string; });
}

OrtStatus* ORT_API_CALL ModelMetadataGetGraphDescription(const OrtModelMetadata* model_metadata,
                                                         OrtAllocator* allocator, char** value) noexcept {
  return CopyOut("ModelMetadataGetGraphDescription", model_metadata, allocator, value,
                 [](const ModelMetadataAdapter& metadata) -> auto& { return metadata.graph_description(); });
}

OrtStatus* ORT_API_CALL ModelMetadataGetVersion(const OrtModelMetadata* model_metadata, int64_t* value) noexcept {
  return Guard("ModelMetadataGetVersion", [&] {
    const int64_t version = Borrow(model_metadata).model().model_version;
    Out(value, "value") = version != 0 ? version : kNoVersion;
  });
}

OrtStatus* ORT_API_CALL ModelMetadataLookupCustomMetadataMap(const OrtModelMetadata* model_metadata,
                                                             OrtAllocator* allocator, const char* key,
                                                             char** value) noexcept {
  return Guard("ModelMetadataLookupCustomMetadataMap", [&](Slot slot) -> OrtStatus* {
    const auto& entries = Borrow(model_metadata).entries();
    RequireCpuMemory(BorrowAllocator(allocator));
    Require(key, "key");
    const auto destination = Out(value, "value");
    char* copy = nullptr;
    if (const auto found = entries.find(key); found != entries.end()) {
      copy = CopyText(allocator, found->second);
      if (copy == nullptr) return NoMemory(slot);
    }
    destination = copy;
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL ModelMetadataGetCustomMetadataMapKeys(const OrtModelMetadata* model_metadata,
                                                              OrtAllocator* allocator, char*** keys,
                                                              int64_t* num_keys) noexcept {
  return Guard("ModelMetadataGetCustomMetadataMapKeys", [&](Slot slot) -> OrtStatus* {
    const auto& entries = Borrow(model_metadata).entries();
    RequireCpuMemory(BorrowAllocator(allocator));
    const auto destination = Out(keys, "keys");
    const auto count = Out(num_keys, "num_keys");
    if (entries.empty()) {
      destination = static_cast<char**>(nullptr);
      count = 0;
      return nullptr;
    }
    std::vector<std::string> names;
    for (const auto& entry : entries) names.push_back(entry.first);
    StringBlocks blocks(allocator, names.size());
    if (!blocks.Fill(names)) return NoMemory(slot);
    destination = blocks.Keep();
    count = static_cast<int64_t>(names.size());
    return nullptr;
  });
}

void ORT_API_CALL ReleaseModelMetadata(OrtModelMetadata* metadata) noexcept {
  TakeIn("ReleaseModelMetadata", metadata);
}

}  // namespace

void FillModelMetadata(OrtApi& table) noexcept {
  table.ModelMetadataGetProducerName = ModelMetadataGetProducerName;
  table.ModelMetadataGetGraphName = ModelMetadataGetGraphName;
  table.ModelMetadataGetDomain = ModelMetadataGetDomain;
  table.ModelMetadataGetDescription = ModelMetadataGetDescription;
  table.ModelMetadataGetGraphDescription = ModelMetadataGetGraphDescription;
  table.ModelMetadataGetVersion = ModelMetadataGetVersion;
  table.ModelMetadataLookupCustomMetadataMap = ModelMetadataLookupCustomMetadataMap;
  table.ModelMetadataGetCustomMetadataMapKeys = ModelMetadataGetCustomMetadataMapKeys;
  table.ReleaseModelMetadata = ReleaseModelMetadata;
}

}  // namespace ort_host::abi
