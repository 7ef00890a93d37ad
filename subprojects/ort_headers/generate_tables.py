# SPDX-License-Identifier: Apache-2.0
"""Write what stands beside the C header: slot metadata and stub tables, callback metadata, the freeze test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from generate_header import CTypes

Json = dict[str, Any]

BASE_TABLE = "OrtApiBase"
RETURNS = {"status": "kStatus", "void": "kVoid", "other": "kOther"}

# Real libraries leave garbage in the version field of these: their members are never gated on it.
UNGATED = {"OrtDataTransferImpl", "OrtNodeComputeInfo", "OrtSyncStreamImpl", "OrtSyncNotificationImpl"}

PLUGIN_CATEGORIES = ("plugin_or_user_implemented", "plugin_allocated_base_descriptor")

SLOTS_HEAD = """\
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include <ort_abi/ort_c_api.h>

namespace ort_abi {

enum class ReturnKind : uint8_t { kStatus, kVoid, kOther };

/// What the stub of a slot does.
enum class StubKind : uint8_t { kNotImplemented, kReleaseNull, kFailFast };

/// One slot of a host table. Profiles are joined by commas; a slot that no profile names says "unlisted" twice.
struct SlotInfo {
  const char* table;
  const char* name;
  uint16_t index;
  uint16_t since;
  ReturnKind returns;
  StubKind stub;
  uint8_t arity;
  const char* profiles;
  const char* disposition;
};

/// Name, slots and stubs of a host table.
template <class Table>
struct TableTraits;

/// Reads a slot as an untyped address, to compare two tables slot by slot.
template <class Table>
void* SlotAddress(const Table& table, size_t index) noexcept {
  void* address;
  std::memcpy(&address, reinterpret_cast<const char*>(&table) + index * sizeof(void*), sizeof(void*));
  return address;
}

"""

SLOTS_TAIL = """\
/// Entries behind the last known slot: libraries exist that ask for an old version and call a newer slot.
inline constexpr size_t kTailSlots = 64;

template <class Table, size_t kExtra = kTailSlots>
struct TableWithTail {
  Table table;
  void (*tail[kExtra])();
};

/// Names an unknown slot by its index and fails fast.
template <class Policy, class Table, size_t kIndex>
void TrapSlot() {
  char text[64];
  std::snprintf(text, sizeof(text), "%s slot #%zu", TableTraits<Table>::kName, kIndex);
  Policy::FailFast(text);
  std::abort();
}

template <class Policy, class Table, size_t... kOffset>
constexpr TableWithTail<Table, sizeof...(kOffset)> MakeStubTable(std::index_sequence<kOffset...>) noexcept {
  return {TableTraits<Table>::template Stubs<Policy>::Make(),
          {&TrapSlot<Policy, Table, sizeof(Table) / sizeof(void*) + kOffset>...}};
}

/// Returns the stub table of `Table` with its trapping tail; it lives as long as the process.
///
/// `Policy` says what a stub does, both noexcept: `static OrtStatus* NotImplemented(const char* slot)` and
/// `[[noreturn]] static void FailFast(const char* slot)`. A slot is named "OrtApi.CreateEnv" or "OrtApi slot #426".
template <class Policy, class Table>
const TableWithTail<Table>& StubTable() noexcept {
  static constexpr TableWithTail<Table> kTable =
      MakeStubTable<Policy, Table>(std::make_index_sequence<kTailSlots>{});
  return kTable;
}

"""

MEMBERS_HEAD = """\
#pragma once

#include <cstddef>
#include <cstdint>

#include <ort_abi/ort_c_api.h>

namespace ort_abi {

/// A struct that a plugin implements: `kName`, `kVersionField`, `kGated` and `Version(const T*)`. A struct that is not
/// gated has a version field that real libraries leave uninitialised.
template <class Struct>
struct StructInfo;

/// A callback member: `kStruct`, `kName`, `kIndex`, `kSince`, `kGated`. Members that the struct had from its first
/// version on are not gated; `kSince` is 0 where the whole struct is not.
template <auto kMember>
struct MemberInfo;

/// The slot that releases a handle: `Table` and `kSlot`.
template <class Handle>
struct ReleaseSlot;

/// One plugin callback, for the support matrix.
struct CallbackInfo {
  const char* struct_name;
  const char* name;
  uint16_t since;
  const char* profiles;
  const char* disposition;
};

"""

FREEZE_HEAD = """\
// Compiling this file is the test. With ORT_ABI_CHECKED_HEADER it checks that header instead of the generated one.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifdef ORT_ABI_CHECKED_HEADER
#include ORT_ABI_CHECKED_HEADER
#define ORT_ABI_FREEZE_NOEXCEPT(type, expected)
#else
#include <ort_abi/ort_c_api.h>
#define ORT_ABI_FREEZE_NOEXCEPT(type, expected) \\
  static_assert(Function<type>::kNoexcept == expected, #type " has the wrong exception specification");
#endif

namespace {

template <class Pointer>
struct Function;
template <class R, class... A>
struct Function<R(ORT_API_CALL*)(A...)> {
  using Plain = R(ORT_API_CALL*)(A...);
  static constexpr bool kNoexcept = false;
};
template <class R, class... A>
struct Function<R(ORT_API_CALL*)(A...) noexcept> {
  using Plain = R(ORT_API_CALL*)(A...);
  static constexpr bool kNoexcept = true;
};

#if defined(__x86_64__) && defined(__linux__)
#define ORT_ABI_FREEZE_SIZE(type, size, align) \\
  static_assert(sizeof(type) == size && alignof(type) == align, #type " has another size");
#define ORT_ABI_FREEZE_OFFSET(type, member, offset) \\
  static_assert(offsetof(type, member) == offset, #type "." #member " has moved");
#else
#define ORT_ABI_FREEZE_SIZE(type, size, align)
#define ORT_ABI_FREEZE_OFFSET(type, member, offset)
#endif
#define ORT_ABI_FREEZE_ENUM(name, value) \\
  static_assert(static_cast<long long>(name) == value, #name " has another value");
#define ORT_ABI_FREEZE_FIELD(type, member, ...) \\
  static_assert(std::is_same_v<decltype(type::member), __VA_ARGS__>, #type "." #member " has another type");
#define ORT_ABI_FREEZE_TYPE(name, type, expected, ...) \\
  static_assert(std::is_same_v<Function<type>::Plain, __VA_ARGS__>, name " has another function type"); \\
  ORT_ABI_FREEZE_NOEXCEPT(type, expected)

static_assert(ORT_API_VERSION == @VERSION@, "the header has another API version");
"""


def stub_kind(slot: Json) -> str:
    """Return the name of the StubKind of a slot."""
    if slot["return_kind"] == "status":
        return "kNotImplemented"
    one_pointer = len(slot["params"]) == 1 and slot["params"][0]["type"].endswith("*")
    if slot["return_kind"] == "void" and slot["name"].startswith("Release") and one_pointer:
        return "kReleaseNull"
    return "kFailFast"


def labels(profiles: Json) -> dict[tuple[str, str], tuple[str, str]]:
    """Return profiles and disposition, as joined text, by table and name."""
    found = {}
    for entry in profiles["entries"]:
        dispositions = dict.fromkeys(p["disposition"] for p in entry["proposal"])
        found[entry["table"], entry["name"]] = (",".join(entry["profiles"]), ",".join(dispositions) or "unlisted")
    return found


def stub_function(table: str, slot: Json, types: CTypes) -> str:
    """Return the stub of one slot: a static member function with the slot's exact type."""
    kind = stub_kind(slot)
    params = types.parameters(slot, named=False)
    label = f'"{table}.{slot["name"]}"'
    if kind == "kNotImplemented":
        body = f"return Policy::NotImplemented({label});"
    elif kind == "kReleaseNull":
        params += " handle"
        body = f"if (handle != nullptr) Policy::FailFast({label});"
    else:
        body = f"Policy::FailFast({label}); std::abort();"
    params = "" if params == "void" else params
    returns = types.spell(slot["returns"])
    return f"  static {returns} ORT_API_CALL {slot['name']}({params}) noexcept {{ {body} }}\n"


def slots_text(abi: Json, profiles: Json, types: CTypes) -> str:
    """Return slot metadata and stub tables of every table that the host implements."""
    known = labels(profiles)
    tables = [s for s in abi["structs"] if s["category"] == "api_table"]
    parts = [SLOTS_HEAD]
    for table in tables:
        name = table["name"]
        parts.append(f"inline constexpr SlotInfo k{name}Slots[] = {{\n")
        for slot in table["members"]:
            profile, disposition = known.get((name, slot["name"]), ("unlisted", "unlisted"))
            parts.append(
                f'    {{"{name}", "{slot["name"]}", {slot["index"]}, {slot["since"]}, '
                f"ReturnKind::{RETURNS[slot['return_kind']]}, StubKind::{stub_kind(slot)}, {len(slot['params'])}, "
                f'"{profile}", "{disposition}"}},\n'
            )
        parts.append("};\n")
        parts.append(f"static_assert(sizeof({name}) == std::size(k{name}Slots) * sizeof(void*));\n\n")
        stubs = ""
        if name != BASE_TABLE:
            functions = "".join(stub_function(name, s, types) for s in table["members"])
            values = "".join(f"        .{s['name']} = &{s['name']},\n" for s in table["members"])
            parts.append(
                f"template <class Policy>\nstruct {name}Stubs {{\n{functions}"
                f"  static constexpr {name} Make() noexcept {{\n    return {{\n{values}    }};\n  }}\n}};\n\n"
            )
            stubs = f"  template <class Policy>\n  using Stubs = {name}Stubs<Policy>;\n"
        parts.append(
            f'template <>\nstruct TableTraits<{name}> {{\n  static constexpr const char* kName = "{name}";\n'
            f"  static constexpr std::span<const SlotInfo> kSlots = k{name}Slots;\n{stubs}}};\n\n"
        )
    parts.append(SLOTS_TAIL)
    spans = ", ".join(f"k{t['name']}Slots" for t in tables)
    parts.append("/// The slots of every host table.\n")
    parts.append(f"inline constexpr std::span<const SlotInfo> kHostTables[] = {{{spans}}};\n")
    parts.append("\n}  // namespace ort_abi\n")
    return "".join(parts)


def members_text(abi: Json, profiles: Json) -> str:
    """Return metadata of every callback that a plugin implements, and the release slot of every handle."""
    known = labels(profiles)
    parts = [MEMBERS_HEAD]
    rows = []
    for struct in abi["structs"]:
        if struct["category"] not in PLUGIN_CATEGORIES:
            continue
        name, field = struct["name"], struct["version_field"]
        gated = name not in UNGATED
        first = min(m["since"] for m in struct["members"])
        version = "descriptor" if field is None else field
        parts.append(
            f'template <>\nstruct StructInfo<{name}> {{\n  static constexpr const char* kName = "{name}";\n'
            f'  static constexpr const char* kVersionField = "{version}";\n'
            f"  static constexpr bool kGated = {str(gated).lower()};\n"
            f"  static uint32_t Version(const {name}* object) noexcept {{ return object->{version}; }}\n}};\n"
        )
        for member in struct["members"]:
            if member["kind"] != "function_pointer":
                continue
            since = member["since"] if gated else 0
            member_gated = str(gated and member["since"] > first).lower()
            parts.append(
                f"template <>\nstruct MemberInfo<&{name}::{member['name']}> {{\n"
                f"  using Struct = {name};\n"
                f'  static constexpr const char* kStruct = "{name}";\n'
                f'  static constexpr const char* kName = "{member["name"]}";\n'
                f'  static constexpr const char* kLabel = "{name}.{member["name"]}";\n'
                f"  static constexpr uint32_t kIndex = {member['index']};\n"
                f"  static constexpr uint32_t kSince = {since};\n"
                f"  static constexpr bool kGated = {member_gated};\n}};\n"
            )
            profile, disposition = known.get((name, member["name"]), ("unlisted", "unlisted"))
            rows.append(f'    {{"{name}", "{member["name"]}", {since}, "{profile}", "{disposition}"}},\n')
        parts.append("\n")
    for struct in abi["structs"]:
        for slot in struct["members"]:
            if struct["category"] == "api_table" and stub_kind(slot) == "kReleaseNull":
                handle = slot["params"][0]["type"].removesuffix("*")
                parts.append(
                    f"template <>\nstruct ReleaseSlot<{handle}> {{\n  using Table = {struct['name']};\n"
                    f"  static constexpr auto kSlot = &{struct['name']}::{slot['name']};\n}};\n"
                )
    parts.append("\ninline constexpr CallbackInfo kCallbacks[] = {\n" + "".join(rows) + "};\n")
    parts.append("\n}  // namespace ort_abi\n")
    return "".join(parts)


def freeze_text(abi: Json, types: CTypes) -> str:
    """Return the freeze test: static assertions on every size, offset, enum value and function type."""
    parts = [FREEZE_HEAD.replace("@VERSION@", str(abi["api_version"]))]
    for enum in abi["enums"]:
        parts += [f"ORT_ABI_FREEZE_ENUM({e['name']}, {e['value']}LL)\n" for e in enum["enumerators"]]
    for function in abi["functions"]:
        name = function["name"]
        exported = function["kind"] == "exported_function"
        is_noexcept = str(exported and function["noexcept"]).lower()
        spelled = f"decltype(&{name})" if exported else name
        pointer = types.pointer(function, "", named=False)
        parts.append(f'ORT_ABI_FREEZE_TYPE("{name}", {spelled}, {is_noexcept}, {pointer})\n')
    for struct in abi["structs"]:
        name, host = struct["name"], struct["category"] == "api_table"
        parts.append(f"ORT_ABI_FREEZE_SIZE({name}, {struct['sizeof_x86_64']}, {struct['align_x86_64']})\n")
        for member in struct["members"]:
            spelled = f"{name}::{member['name']}"
            parts.append(f"ORT_ABI_FREEZE_OFFSET({name}, {member['name']}, {member['offset_x86_64']})\n")
            if member["kind"] == "function_pointer":
                is_noexcept = str(host and member["noexcept"]).lower()
                pointer = types.pointer(member, "", named=False)
                parts.append(f'ORT_ABI_FREEZE_TYPE("{spelled}", decltype({spelled}), {is_noexcept}, {pointer})\n')
            elif "union_members" not in member:
                parts.append(f"ORT_ABI_FREEZE_FIELD({name}, {member['name']}, {types.declare(member['type'], '')})\n")
    parts.append("\n}  // namespace\n\nint main() { return 0; }\n")
    return "".join(parts)
