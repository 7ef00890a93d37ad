// SPDX-License-Identifier: Apache-2.0
#include <ort_abi/slots.h>

#include <cstring>

#include "check.h"
#include "fake_status.h"

namespace {

struct Policy {
  static OrtStatus* NotImplemented(const char* slot) noexcept { return FakeStatus::Make(ORT_NOT_IMPLEMENTED, slot); }
  [[noreturn]] static void FailFast(const char* slot) noexcept {
    (void)!write(2, slot, std::strlen(slot));
    _exit(42);
  }
};

using ort_abi::StubKind;
using ort_abi::StubTable;

/// Runs in a child and checks that it failed fast with this name.
template <class Body>
void CheckFailsFast(Body body, const std::string& name) {
  std::string text;
  const int status = InChild(body, &text);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
  if (text != name) std::fprintf(stderr, "expected %s, got %s\n", name.c_str(), text.c_str());
  CHECK(text == name);
}

#if defined(__x86_64__) && defined(__linux__)
/// Calls every stub by its address with zero arguments in all registers, which this platform's
/// convention allows.
template <class Table>
void EveryStub() {
  const Table& table = StubTable<Policy, Table>().table;
  using Any = OrtStatus* (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);
  size_t index = 0;
  for (const ort_abi::SlotInfo& slot : ort_abi::TableTraits<Table>::kSlots) {
    CHECK(slot.index == index);
    const std::string name = std::string(slot.table) + "." + slot.name;
    auto call = reinterpret_cast<Any>(ort_abi::SlotAddress(table, index++));
    CHECK(call != nullptr);
    const auto run = [&] { return call({}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}); };
    if (slot.stub == StubKind::kNotImplemented) {
      CHECK(FakeStatus::Is(run(), ORT_NOT_IMPLEMENTED, name));
    } else if (slot.stub == StubKind::kReleaseNull) {
      run();
      CheckFailsFast([&] { call(&index, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}); }, name);
    } else {
      CheckFailsFast(run, name);
    }
  }
  CHECK(index == sizeof(Table) / sizeof(void*));
}
#endif

void Tails() {
  const auto& api = StubTable<Policy, OrtApi>();
  const auto& ep_api = StubTable<Policy, OrtEpApi>();
  static_assert(sizeof(api) == (426 + ort_abi::kTailSlots) * sizeof(void*));
  CheckFailsFast([&] { api.tail[0](); }, "OrtApi slot #426");
  CheckFailsFast([&] { api.tail[63](); }, "OrtApi slot #489");
  CheckFailsFast([&] { ep_api.tail[0](); }, "OrtEpApi slot #74");
}

void Metadata() {
  const auto slots = ort_abi::TableTraits<OrtApi>::kSlots;
  CHECK(std::string(slots[3].name) == "CreateEnv" && std::string(slots[3].profiles) == "unlisted");
  CHECK(std::string(slots[272].name) == "ReadOpAttr" && slots[272].since == 17);
  CHECK(std::string(slots[272].profiles) == "custom_ops,compiling_ep");
  CHECK(std::string(slots[272].disposition) == "implement");
  CHECK(std::string(slots[425].name) == "KernelContext_GetPreallocatedOutput" && slots[425].since == 30);
  CHECK(std::size(ort_abi::kHostTables) == 6);
}

/// A filled slot shows by its address, which is how support is counted.
void FilledSlotDiffers() {
  auto filled = StubTable<Policy, OrtApi>();
  filled.table.GetErrorCode = [](const OrtStatus*) noexcept { return ORT_FAIL; };
  size_t different = 0;
  for (const auto& slot : ort_abi::TableTraits<OrtApi>::kSlots) {
    different += ort_abi::SlotAddress(filled.table, slot.index) !=
                 ort_abi::SlotAddress(StubTable<Policy, OrtApi>().table, slot.index);
  }
  CHECK(different == 1);
}

}  // namespace

int main() {
#if defined(__x86_64__) && defined(__linux__)
  EveryStub<OrtApi>();
  EveryStub<OrtEpApi>();
  EveryStub<OrtModelEditorApi>();
  EveryStub<OrtCompileApi>();
  EveryStub<OrtInteropApi>();
#endif
  Tails();
  Metadata();
  FilledSlotDiffers();
  CHECK(FakeStatus::live == 0);
}
