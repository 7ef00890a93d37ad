# SPDX-License-Identifier: Apache-2.0
"""Write the C header of the pinned ABI, and the C++ tables beside it, from the JSON inventory."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import generate_tables

Json = dict[str, Any]

HOST_CATEGORY = "api_table"

PLATFORM = """\
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
#define ORT_API_CALL __stdcall
#define ORTCHAR_T wchar_t
#ifdef ORT_DLL_IMPORT
#define ORT_EXPORT __declspec(dllimport)
#else
#define ORT_EXPORT
#endif
#else
#define ORT_API_CALL
#define ORTCHAR_T char
#define ORT_EXPORT __attribute__((visibility("default")))
#endif

/* What the host implements never throws. */
#ifdef __cplusplus
#define ORT_HOST_NOEXCEPT noexcept
#else
#define ORT_HOST_NOEXCEPT
#endif

/* The other side may pass a number that an enum does not list. In C++ reading it is defined only where the underlying
   type is fixed. */
#ifdef __cplusplus
#define ORT_ENUM_BASE : int
#else
#define ORT_ENUM_BASE
#endif

/* On what a plugin implements the official header says noexcept. Empty here: behind a pointer typed noexcept the
   host's catch-all would never get its chance. Define it as noexcept to get the official types. */
#ifndef ORT_PLUGIN_NOEXCEPT
#define ORT_PLUGIN_NOEXCEPT
#endif
"""


class CTypes:
    """Spell the inventory's types in C.

    Parameters
    ----------
    abi : dict
        The parsed inventory.
    """

    def __init__(self, abi: Json) -> None:
        tagged = {s["name"]: "struct" for s in abi["structs"] if s["c_tag_only"]}
        tagged |= {e["name"]: "enum" for e in abi["enums"] if e["c_tag_only"]}
        self._tagged = tagged
        self._pattern = re.compile(r"\b(" + "|".join(tagged) + r")\b")

    def spell(self, type_text: str) -> str:
        """Return the type with the tag that C needs."""
        return self._pattern.sub(lambda match: f"{self._tagged[match[1]]} {match[1]}", type_text)

    def declare(self, type_text: str, name: str) -> str:
        """Return a declarator for `name`, which may be empty."""
        text = self.spell(type_text)
        if "(*)" in text:
            return text.replace("(*)", f"(*{name})", 1)
        if text.endswith("]"):
            head, _, bound = text.partition("[")
            return f"{head} {name}[{bound}".rstrip()
        return f"{text} {name}".rstrip()

    def parameters(self, function: Json, named: bool = True) -> str:
        """Return the parameter list of a function, `void` when it is empty."""
        params = [self.declare(p["type"], p["name"] if named else "") for p in function["params"]]
        return ", ".join(params) or "void"

    def pointer(self, function: Json, name: str, suffix: str = "", named: bool = True) -> str:
        """Return the declarator of a function pointer called `name`."""
        call = "ORT_API_CALL" if function["ort_api_call"] else ""
        star = f"({call}* {name})" if name and call else f"({call}*{name})"
        text = f"{self.spell(function['returns'])} {star}({self.parameters(function, named)})"
        return f"{text} {suffix}".rstrip()


def banner(abi: Json, notice: str) -> str:
    """Return the comment on top of every generated file: origin, and the licence notice of the declarations."""
    licence = notice[notice.index("MIT License") :].rstrip().splitlines()
    lines = [
        f"/* Generated from the ABI inventory of API version {abi['api_version']}; do not edit.",
        " *",
        f" * Interface declarations: {abi['source']['repository']}, commit {abi['source']['upstream_commit']}.",
        " *",
        *(f" * {line}".rstrip() for line in licence),
        " */",
    ]
    return "\n".join(lines) + "\n"


def enum_value(value: int) -> str:
    """Return a constant expression of type int: the most negative int has no literal of its own."""
    return "(-2147483647 - 1)" if value == -(2**31) else str(value)


def enum_text(enum: Json) -> str:
    """Return the definition of one enum."""
    body = "".join(f"  {e['name']} = {enum_value(e['value'])},\n" for e in enum["enumerators"])
    name = enum["name"]
    if enum["c_tag_only"]:
        return f"enum {name} ORT_ENUM_BASE {{\n{body}}};\n"
    return f"typedef enum {name} ORT_ENUM_BASE {{\n{body}}} {name};\n"


def struct_text(struct: Json, types: CTypes) -> str:
    """Return the definition of one struct; a host table's functions are noexcept, a plugin's are not."""
    suffix = "ORT_HOST_NOEXCEPT" if struct["category"] == HOST_CATEGORY else "ORT_PLUGIN_NOEXCEPT"
    lines = []
    for member in struct["members"]:
        if member["kind"] == "function_pointer":
            text = types.pointer(member, member["name"], suffix if member["noexcept"] else "")
        elif "union_members" in member:
            inner = " ".join(types.declare(u["type"], u["name"]) + ";" for u in member["union_members"])
            text = f"union {{ {inner} }} {member['name']}"
        else:
            text = types.declare(member["type"], member["name"])
        lines.append(f"  {text};\n")
    return f"struct {struct['name']} {{\n{''.join(lines)}}};\n"


def check_order(abi: Json) -> None:
    """Raise if a struct holds another one by value before that one is defined."""
    names = {s["name"] for s in abi["structs"]}
    seen: set[str] = set()
    for struct in abi["structs"]:
        for member in struct["members"]:
            used = member.get("type")
            if used in names and used not in seen:
                raise ValueError(f"{struct['name']}.{member['name']}: {used} is not defined yet")
        seen.add(struct["name"])


def header_text(abi: Json) -> str:
    """Return the C header, without its banner.

    Structs are plain aggregates: the C++ constructors that the official header gives a few option structs are left
    out, since they do not change the layout.
    """
    check_order(abi)
    types = CTypes(abi)
    parts = [PLATFORM]
    parts += [f"#define {d['name']} {d['value']}\n" for d in abi["constants"]["defines"]]
    parts.append('\n#ifdef __cplusplus\nextern "C" {\n#endif\n\n')
    tagged = {s["name"] for s in abi["structs"] if s["c_tag_only"]}
    names = [o["name"] for o in abi["opaque"]] + [s["name"] for s in abi["structs"]]
    parts += [f"struct {n};\n" if n in tagged else f"typedef struct {n} {n};\n" for n in names]
    parts += ["\n" + enum_text(e) for e in abi["enums"]]
    parts.append("\n")
    parts += [f"typedef {types.declare(t['type'], t['name'])};\n" for t in abi["typedefs"] if t["name"] != "ORTCHAR_T"]
    exported = []
    for function in abi["functions"]:
        if function["kind"] == "exported_function":
            params = types.parameters(function)
            declaration = f"{types.spell(function['returns'])} ORT_API_CALL {function['name']}({params})"
            suffix = " ORT_HOST_NOEXCEPT" if function["noexcept"] else ""
            exported.append(f"ORT_EXPORT {declaration}{suffix};\n")
        else:
            suffix = "ORT_PLUGIN_NOEXCEPT" if function["noexcept"] else ""
            parts.append(f"typedef {types.pointer(function, function['name'], suffix)};\n")
    parts += ["\n" + struct_text(s, types) for s in abi["structs"]]
    parts.append("\n" + "".join(exported))
    parts.append("\n#ifdef __cplusplus\n}\n#endif\n")
    return "".join(parts)


def main() -> None:
    """Write every generated file into the output directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--abi", type=Path, required=True)
    parser.add_argument("--profiles", type=Path, required=True)
    parser.add_argument("--notice", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True, help="directory of the generated files")
    args = parser.parse_args()
    abi = json.loads(args.abi.read_text(encoding="utf-8"))
    profiles = json.loads(args.profiles.read_text(encoding="utf-8"))
    head = banner(abi, args.notice.read_text(encoding="utf-8"))
    types = CTypes(abi)
    files = {
        "ort_c_api.h": header_text(abi),
        "slots.h": generate_tables.slots_text(abi, profiles, types),
        "members.h": generate_tables.members_text(abi, profiles),
        "freeze_test.cc": generate_tables.freeze_text(abi, types),
    }
    args.output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (args.output / name).write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main()
