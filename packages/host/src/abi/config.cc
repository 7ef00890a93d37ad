// SPDX-License-Identifier: Apache-2.0
#include "abi/sections.h"
#include "adapters/key_value_pairs.h"
#include "adapters/logger.h"
#include "adapters/session_options.h"

namespace ort_host::abi {
namespace {

// --- Entries of session options

OrtStatus* ORT_API_CALL AddSessionConfigEntry(OrtSessionOptions* options, const char* config_key,
                                              const char* config_value) noexcept {
  return Guard("AddSessionConfigEntry", [&](Slot slot) -> OrtStatus* {
    SessionOptionsAdapter& adapter = BorrowOptions(options);
    const std::string problem =
        adapter.SetConfig(Require(config_key, "config_key"), Require(config_value, "config_value"));
    return problem.empty() ? nullptr : slot.Fail(ORT_INVALID_ARGUMENT, "%s", problem.c_str());
  });
}

OrtStatus* ORT_API_CALL HasSessionConfigEntry(const OrtSessionOptions* options, const char* config_key,
                                              int* out) noexcept {
  return Guard("HasSessionConfigEntry", [&] {
    const SessionOptionsAdapter& adapter = BorrowOptions(options);
    Out(out) = adapter.FindConfig(Require(config_key, "config_key")) != nullptr ? 1 : 0;
  });
}

OrtStatus* ORT_API_CALL GetSessionConfigEntry(const OrtSessionOptions* options, const char* config_key,
                                              char* config_value, size_t* size) noexcept {
  return Guard("GetSessionConfigEntry", [&](Slot slot) -> OrtStatus* {
    const SessionOptionsAdapter& adapter = BorrowOptions(options);
    Require(config_key, "config_key");
    Require(size, "size");
    const std::string* value = adapter.FindConfig(config_key);
    if (value == nullptr) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "config_key: there is no such entry, got '%.200s'", config_key);
    }
    return CopyString(slot, *value, config_value, size);
  });
}

OrtStatus* ORT_API_CALL GetSessionOptionsConfigEntries(const OrtSessionOptions* options,
                                                       OrtKeyValuePairs** out) noexcept {
  return Guard("GetSessionOptionsConfigEntries", [&] {
    const SessionOptionsAdapter& adapter = BorrowOptions(options);
    Out(out) = std::make_unique<KeyValuePairsAdapter>(adapter.config());
  });
}

// --- OrtKeyValuePairs: no slot returns a status, so what goes wrong is logged.

template <class Body>
void LogErrors(const char* slot, Body&& body) noexcept {
  OrtStatus* status = Guard(slot, body);
  if (status == nullptr) [[likely]]
    return;
  LogLine(ORT_LOGGING_LEVEL_ERROR, HostStatus::Message(status));
  ReleaseStatusHandle(status);
}

void ORT_API_CALL CreateKeyValuePairs(OrtKeyValuePairs** out) noexcept {
  LogErrors("CreateKeyValuePairs", [&] { Out(out) = std::make_unique<KeyValuePairsAdapter>(); });
}

void ORT_API_CALL AddKeyValuePair(OrtKeyValuePairs* kvps, const char* key, const char* value) noexcept {
  if (key == nullptr || value == nullptr || *key == '\0') return;
  LogErrors("AddKeyValuePair", [&] { Borrow(kvps).Set(key, value); });
}

const char* ORT_API_CALL GetKeyValue(const OrtKeyValuePairs* kvps, const char* key) noexcept {
  const char* value = nullptr;
  if (key != nullptr) LogErrors("GetKeyValue", [&] { value = Borrow(kvps).Find(key); });
  return value;
}

void ORT_API_CALL GetKeyValuePairs(const OrtKeyValuePairs* kvps, const char* const** keys, const char* const** values,
                                   size_t* num_entries) noexcept {
  LogErrors("GetKeyValuePairs", [&] {
    const KeyValuePairsAdapter& adapter = Borrow(kvps);
    const auto out_keys = Out(keys, "keys");
    const auto out_values = Out(values, "values");
    const auto out_count = Out(num_entries, "num_entries");
    out_keys = adapter.keys().data();
    out_values = adapter.values().data();
    out_count = adapter.keys().size();
  });
}

void ORT_API_CALL RemoveKeyValuePair(OrtKeyValuePairs* kvps, const char* key) noexcept {
  if (key != nullptr) LogErrors("RemoveKeyValuePair", [&] { Borrow(kvps).Remove(key); });
}

void ORT_API_CALL ReleaseKeyValuePairs(OrtKeyValuePairs* kvps) noexcept { TakeIn("ReleaseKeyValuePairs", kvps); }

}  // namespace

void FillConfig(OrtApi& table) noexcept {
  table.AddSessionConfigEntry = AddSessionConfigEntry;
  table.HasSessionConfigEntry = HasSessionConfigEntry;
  table.GetSessionConfigEntry = GetSessionConfigEntry;
  table.GetSessionOptionsConfigEntries = GetSessionOptionsConfigEntries;
  table.CreateKeyValuePairs = CreateKeyValuePairs;
  table.AddKeyValuePair = AddKeyValuePair;
  table.GetKeyValue = GetKeyValue;
  table.GetKeyValuePairs = GetKeyValuePairs;
  table.RemoveKeyValuePair = RemoveKeyValuePair;
  table.ReleaseKeyValuePairs = ReleaseKeyValuePairs;
}

}  // namespace ort_host::abi
