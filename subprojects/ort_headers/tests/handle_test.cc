// SPDX-License-Identifier: Apache-2.0
#include <ort_abi/out.h>

#include <new>
#include <set>

#include "check.h"
#include "fake_status.h"

namespace {

int destroyed = 0;

struct ValueAdapter final : ort_abi::AdapterHeader {
  explicit ValueAdapter(int initial);
  ~ValueAdapter() { ++destroyed; }
  int number;
};
struct Named {
  virtual ~Named() = default;
};
/// A virtual base first: the header is not at the object's start then, and the handle still is the
/// header.
struct NodeAdapter final : Named, ort_abi::AdapterHeader {
  NodeAdapter();
  int number = 5;
};

}  // namespace

template <>
struct ort_abi::HandleTraits<OrtValue> {
  using Adapter = ValueAdapter;
  static constexpr uint32_t kKind = 0x11;
  static constexpr const char* kName = "value";
};
template <>
struct ort_abi::HandleTraits<OrtNode> {
  using Adapter = NodeAdapter;
  static constexpr uint32_t kKind = 0x22;
  static constexpr const char* kName = "node";
};

namespace {

ValueAdapter::ValueAdapter(int initial) : AdapterHeader(ort_abi::HandleTraits<OrtValue>::kKind), number(initial) {}
NodeAdapter::NodeAdapter() : AdapterHeader(ort_abi::HandleTraits<OrtNode>::kKind) {}

using ort_abi::Borrow;
using ort_abi::Give;
using ort_abi::Lend;
using ort_abi::Out;
using ort_abi::StatusError;
using ort_abi::Take;

std::string Message(const StatusError& error) { return error.what(); }

void Verbs() {
  OrtValue* handle = Give<OrtValue>(std::make_unique<ValueAdapter>(3));
  CHECK(Borrow(handle).number == 3);
  Borrow(handle).number = 4;
  CHECK(Borrow(static_cast<const OrtValue*>(handle)).number == 4);
  static_assert(std::is_const_v<std::remove_reference_t<decltype(Borrow(static_cast<const OrtValue*>(handle)))>>);
  destroyed = 0;
  CHECK(Take(handle)->number == 4);
  CHECK(destroyed == 1);
  CHECK(Take(static_cast<OrtValue*>(nullptr)) == nullptr && Give<OrtValue>(nullptr) == nullptr);
  NodeAdapter node;
  CHECK(Borrow(Lend<OrtNode>(node)).number == 5);
  CHECK(static_cast<const void*>(Lend<OrtNode>(std::as_const(node))) != static_cast<const void*>(&node));
}

void WrongHandles() {
  CHECK_THROWS(StatusError, Borrow(static_cast<OrtValue*>(nullptr)),
               error.code() == ORT_INVALID_ARGUMENT && Message(error) == "value is null");
  CHECK_THROWS(StatusError, Borrow(static_cast<OrtValue*>(nullptr), "input"), Message(error) == "input is null");
  NodeAdapter node;
  auto* wrong = reinterpret_cast<OrtValue*>(Lend<OrtNode>(node));
  CHECK_THROWS(StatusError, Borrow(wrong),
               error.code() == ORT_INVALID_ARGUMENT &&
                   Message(error) == "value is no live handle of its type, kind 17 expected, got 34");
  CHECK(Take(wrong) == nullptr);
  alignas(ValueAdapter) unsigned char memory[sizeof(ValueAdapter)];
  auto* dead = new (memory) ValueAdapter(1);
  OrtValue* handle = Lend<OrtValue>(*dead);
  dead->~ValueAdapter();
  CHECK_THROWS(StatusError, Borrow(handle), error.code() == ORT_INVALID_ARGUMENT);
}

std::set<const void*> live;
std::set<const void*> given;
const ort_abi::CheckedHooks kHooks = {
    [](const void* handle, uint32_t) noexcept { live.insert(handle); },
    [](const void* handle, uint32_t) noexcept { live.erase(handle); },
    [](const void* handle, uint32_t, const char* name) {
      if (!live.contains(handle)) throw StatusError(ORT_INVALID_ARGUMENT, std::string(name) + " is not alive");
    },
    [](const void* handle, uint32_t) noexcept { given.insert(handle); },
    [](const void* handle, uint32_t) noexcept { return given.erase(handle) == 1; },
};

void CheckedMode() {
  ort_abi::checked_hooks = &kHooks;
  OrtValue* handle = Give<OrtValue>(std::make_unique<ValueAdapter>(1));
  CHECK(Borrow(handle).number == 1);
  CHECK(Take(handle) != nullptr);
  // The memory is gone: only the live set can tell, before the tag is read.
  CHECK_THROWS(StatusError, Borrow(handle), Message(error) == "value is not alive");
  CHECK(Take(handle) == nullptr);
  ValueAdapter lent(2);
  CHECK(Borrow(Lend<OrtValue>(lent)).number == 2);
  CHECK(Take(Lend<OrtValue>(lent)) == nullptr);
  ort_abi::checked_hooks = nullptr;
}

void OutParameters() {
  size_t count = 9;
  Out(&count) = 3;
  CHECK(count == 3);
  CHECK_THROWS(std::runtime_error, Out(&count) = (throw std::runtime_error("late"), size_t{1}), count == 3);
  CHECK_THROWS(StatusError, Out(static_cast<size_t*>(nullptr), "size") = 1,
               error.code() == ORT_INVALID_ARGUMENT && Message(error) == "size is null");
  OrtValue* value = nullptr;
  Out(&value) = std::make_unique<ValueAdapter>(6);
  CHECK(Borrow(value).number == 6);
  Take(value);
  destroyed = 0;
  CHECK_THROWS(StatusError, Out(static_cast<OrtValue**>(nullptr)) = std::make_unique<ValueAdapter>(6),
               Message(error) == "out is null");
  CHECK(destroyed == 1);  // evaluated, refused, and not leaked
  Out(&value) = nullptr;
  CHECK(value == nullptr);
}

int released_values = 0;

void ReceivedHandles() {
  OrtApi api{};
  api.ReleaseValue = [](OrtValue* handle) noexcept {
    ++released_values;
    Take(handle);
  };
  api.GetErrorCode = [](const OrtStatus* status) noexcept { return FakeStatus::Code(status); };
  api.GetErrorMessage = [](const OrtStatus* status) noexcept { return FakeStatus::Message(status); };
  api.ReleaseStatus = [](OrtStatus* status) noexcept { FakeStatus::Release(status); };
  {
    auto owned = ort_abi::Receive<OrtValue>(api, api, [](OrtValue** out) -> OrtStatus* {
      Out(out) = std::make_unique<ValueAdapter>(8);
      return nullptr;
    });
    CHECK(Borrow(owned.get()).number == 8 && released_values == 0);
  }
  CHECK(released_values == 1);
  CHECK_THROWS(StatusError, ort_abi::ThrowIfError(api, FakeStatus::Make(ORT_NO_MODEL, "none")),
               error.code() == ORT_NO_MODEL && Message(error) == "none");
  CHECK(FakeStatus::live == 0);
  ort_abi::ThrowIfError(api, nullptr);
  OrtValue* passed = nullptr;
  Out(&passed) = ort_abi::Own(api, Give<OrtValue>(std::make_unique<ValueAdapter>(1)));
  CHECK(released_values == 1 && passed != nullptr);
  ort_abi::Own(api, passed);
  CHECK(released_values == 2);
  CHECK(ort_abi::Own<OrtValue>(api, nullptr) == nullptr && released_values == 2);
}

}  // namespace

int main() {
  Verbs();
  WrongHandles();
  CheckedMode();
  OutParameters();
  ReceivedHandles();
}
