// SPDX-License-Identifier: Apache-2.0
#include "abi/sections.h"
#include "adapters/value.h"

namespace ort_host::abi {
namespace {

// Lengths are in bytes of UTF-8; no NUL is counted or written.

/// What a slot answers for a value without content and for one that is no dense tensor.
struct WrongValue {
  OrtErrorCode empty;
  OrtErrorCode other;
};
constexpr WrongValue kReading = {ORT_INVALID_ARGUMENT, ORT_NOT_IMPLEMENTED};
constexpr WrongValue kWriting = {ORT_FAIL, ORT_FAIL};

light::Tensor& StringTensor(const ValueAdapter& value, WrongValue codes) {
  light::Tensor* tensor = value.tensor();
  if (tensor == nullptr) {
    throw StatusError(value.is_empty() ? codes.empty : codes.other,
                      std::string("value: a tensor of strings is expected, got ") +
                          (value.is_empty() ? "an empty value" : "another value"));
  }
  if (tensor->type() != light::ElementType::kString) {
    throw StatusError(ORT_FAIL, "value: a tensor of strings is expected, got " + light::Describe(*tensor));
  }
  return *tensor;
}

std::span<const std::string> Strings(const OrtValue* value) {
  return StringTensor(Borrow(value), kReading).Span<std::string>();
}

/// Strings that may be written, and the account that their text is charged to.
struct WritableStrings {
  std::span<std::string> elements;
  TextAccount& account;
};

WritableStrings Writable(OrtValue* value) {
  const ValueAdapter& adapter = Borrow(value);
  light::Tensor& tensor = StringTensor(adapter, kWriting);
  if (adapter.text() == nullptr) {
    throw StatusError(ORT_INVALID_ARGUMENT, "value: inputs and constants of a kernel are read-only");
  }
  return {{tensor.Data<std::string>(), static_cast<size_t>(tensor.element_count())}, *adapter.text()};
}

OrtStatus* NoSuchElement(Slot slot, size_t index, size_t count) {
  return slot.Fail(ORT_INVALID_ARGUMENT, "index: the tensor has %zu elements, got %zu", count, index);
}

void Assign(TextAccount& account, std::string& element, std::string_view text) {
  account.Grow(element, text.size());
  element.assign(text);
}

OrtStatus* ORT_API_CALL FillStringTensor(OrtValue* value, const char* const* s, size_t s_len) noexcept {
  return Guard("FillStringTensor", [&](Slot slot) -> OrtStatus* {
    const auto [elements, account] = Writable(value);
    if (s_len != elements.size()) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "s_len: the tensor has %zu elements, got %zu", elements.size(), s_len);
    }
    if (s_len > 0) Require(s, "s");
    for (size_t i = 0; i < s_len; ++i) {
      if (s[i] == nullptr) return slot.Fail(ORT_INVALID_ARGUMENT, "s: text %zu is null", i);
    }
    for (size_t i = 0; i < s_len; ++i) Assign(account, elements[i], s[i]);
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL FillStringTensorElement(OrtValue* value, const char* s, size_t index) noexcept {
  return Guard("FillStringTensorElement", [&](Slot slot) -> OrtStatus* {
    const auto [elements, account] = Writable(value);
    Require(s, "s");
    if (index >= elements.size()) return NoSuchElement(slot, index, elements.size());
    Assign(account, elements[index], s);
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL GetResizedStringTensorElementBuffer(OrtValue* value, size_t index, size_t length_in_bytes,
                                                            char** buffer) noexcept {
  return Guard("GetResizedStringTensorElementBuffer", [&](Slot slot) -> OrtStatus* {
    const auto [elements, account] = Writable(value);
    const auto destination = Out(buffer, "buffer");
    if (index >= elements.size()) return NoSuchElement(slot, index, elements.size());
    std::string& element = elements[index];
    account.Grow(element, length_in_bytes);
    element.resize(length_in_bytes);
    destination = element.data();
    return nullptr;
  });
}

size_t TotalLength(std::span<const std::string> elements) {
  size_t total = 0;
  for (const std::string& element : elements) total += element.size();
  return total;
}

OrtStatus* ORT_API_CALL GetStringTensorDataLength(const OrtValue* value, size_t* len) noexcept {
  return Guard("GetStringTensorDataLength", [&] { Out(len, "len") = TotalLength(Strings(value)); });
}

OrtStatus* ORT_API_CALL GetStringTensorContent(const OrtValue* value, void* s, size_t s_len, size_t* offsets,
                                               size_t offsets_len) noexcept {
  return Guard("GetStringTensorContent", [&](Slot slot) -> OrtStatus* {
    const std::span<const std::string> elements = Strings(value);
    if (offsets_len != elements.size()) {
      return slot.Fail(ORT_FAIL, "offsets_len: the tensor has %zu elements, got %zu", elements.size(), offsets_len);
    }
    const size_t total = TotalLength(elements);
    if (s_len < total) return slot.Fail(ORT_FAIL, "s_len: %zu bytes are needed, got %zu", total, s_len);
    if (total > 0) Require(s, "s");
    if (offsets_len > 0) Require(offsets, "offsets");
    size_t offset = 0;
    for (const std::string& element : elements) {
      *offsets++ = offset;
      if (!element.empty()) std::memcpy(static_cast<char*>(s) + offset, element.data(), element.size());
      offset += element.size();
    }
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL GetStringTensorElementLength(const OrtValue* value, size_t index, size_t* out) noexcept {
  return Guard("GetStringTensorElementLength", [&](Slot slot) -> OrtStatus* {
    const std::span<const std::string> elements = Strings(value);
    const auto destination = Out(out);
    if (index >= elements.size()) return NoSuchElement(slot, index, elements.size());
    destination = elements[index].size();
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL GetStringTensorElement(const OrtValue* value, size_t s_len, size_t index, void* s) noexcept {
  return Guard("GetStringTensorElement", [&](Slot slot) -> OrtStatus* {
    const std::span<const std::string> elements = Strings(value);
    if (index >= elements.size()) return NoSuchElement(slot, index, elements.size());
    const std::string& element = elements[index];
    if (s_len < element.size()) {
      return slot.Fail(ORT_FAIL, "s_len: %zu bytes are needed, got %zu", element.size(), s_len);
    }
    if (!element.empty()) std::memcpy(Require(s, "s"), element.data(), element.size());
    return nullptr;
  });
}

}  // namespace

void FillStrings(OrtApi& table) noexcept {
  table.FillStringTensor = FillStringTensor;
  table.FillStringTensorElement = FillStringTensorElement;
  table.GetResizedStringTensorElementBuffer = GetResizedStringTensorElementBuffer;
  table.GetStringTensorDataLength = GetStringTensorDataLength;
  table.GetStringTensorContent = GetStringTensorContent;
  table.GetStringTensorElementLength = GetStringTensorElementLength;
  table.GetStringTensorElement = GetStringTensorElement;
}

}  // namespace ort_host::abi
