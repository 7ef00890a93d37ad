# SPDX-License-Identifier: Apache-2.0
"""Write the operator schemas of the installed onnx package as one C++ table.

The table is a byte blob that ``src/graph/onnx_schemas.cc`` decodes row by row, when a row is first asked for, plus a
sorted index of operators and the distinct type sets. Numbers in the blob are unsigned LEB128, signed ones zigzag
coded, strings are a length and bytes.
"""

from __future__ import annotations

import argparse
import struct
import sys
from collections import defaultdict
from pathlib import Path

import onnx
from onnx.defs import OpSchema

DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")

# Element types of conversions::ElementType by ONNX number. Types that it lacks are left out of every type set.
ELEMENT_BITS = {name.lower(): number for name, number in onnx.TensorProto.DataType.items() if 0 < number <= 28}
KINDS = ("tensor(", "seq(tensor(", "optional(tensor(", "optional(seq(tensor(")
INFINITE = 2**31 - 1
OPTIONS = {
    OpSchema.FormalParameterOption.Single: 0,
    OpSchema.FormalParameterOption.Optional: 1,
    OpSchema.FormalParameterOption.Variadic: 2,
}


def unsigned(value: int) -> bytes:
    """Encode a number as unsigned LEB128."""
    if value < 0:
        raise ValueError(f"unsigned number expected, got {value}")
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value: int) -> bytes:
    """Encode a 64-bit number zigzag coded, so that small negative numbers stay short."""
    return unsigned(value * 2 if value >= 0 else -value * 2 - 1)


def text(value: str | bytes) -> bytes:
    """Encode a string as a length and bytes."""
    data = value.encode() if isinstance(value, str) else value
    return unsigned(len(data)) + data


def type_set(types: list[str]) -> tuple[int, int, int, int, bool]:
    """Return tensors, sequences, optionals, optional sequences as bit sets by ONNX number, and whether others exist."""
    masks = [0, 0, 0, 0]
    other = False
    for name in types:
        for kind, prefix in enumerate(KINDS):
            element = name.removeprefix(prefix).rstrip(")")
            if name.startswith(prefix) and element in ELEMENT_BITS:
                masks[kind] |= 1 << ELEMENT_BITS[element]
                break
        else:
            other = other or not name.startswith(KINDS)
    return (masks[0], masks[1], masks[2], masks[3], other)


def default_value(kind: int, attribute: OpSchema.Attribute) -> bytes:
    """Encode an attribute's default."""
    value = onnx.helper.get_attribute_value(attribute.default_value)
    if kind == onnx.AttributeProto.FLOAT:
        return struct.pack("<f", value)
    if kind == onnx.AttributeProto.INT:
        return signed(value)
    if kind == onnx.AttributeProto.STRING:
        return text(value)
    if kind == onnx.AttributeProto.FLOATS:
        return unsigned(len(value)) + struct.pack(f"<{len(value)}f", *value)
    if kind == onnx.AttributeProto.INTS:
        return unsigned(len(value)) + b"".join(signed(v) for v in value)
    if kind == onnx.AttributeProto.STRINGS:
        return unsigned(len(value)) + b"".join(text(v) for v in value)
    raise ValueError(f"attribute {attribute.name}: defaults of kind {kind} are not encoded")


class Table:
    """Collects rows; type sets are shared among them."""

    def __init__(self) -> None:
        self.type_sets: dict[tuple[int, int, int, int, bool], int] = {}
        self.blob = bytearray()

    def _type_set(self, types: list[str]) -> int:
        return self.type_sets.setdefault(type_set(types), len(self.type_sets))

    def add(self, schema: OpSchema) -> int:
        """Append one schema and return where it starts."""
        parameters: dict[str, int] = {
            c.type_param_str: self._type_set(c.allowed_type_strs) for c in schema.type_constraints
        }
        for formal in [*schema.inputs, *schema.outputs]:
            # A fixed type such as tensor(int64) becomes a parameter of its own.
            parameters.setdefault(formal.type_str, self._type_set(list(formal.types)))
        order = {name: i for i, name in enumerate(parameters)}

        row = bytearray([int(schema.deprecated)])
        row += unsigned(schema.since_version)
        for count in (schema.min_input, schema.max_input, schema.min_output, schema.max_output):
            row += unsigned(0 if count == INFINITE else count + 1)
        row += unsigned(len(parameters))
        for name, index in parameters.items():
            row += text(name) + unsigned(index)
        for formals in (schema.inputs, schema.outputs):
            row += unsigned(len(formals))
            for formal in formals:
                row += text(formal.name) + unsigned(order[formal.type_str])
                row += bytes([OPTIONS[formal.option] | int(formal.is_homogeneous) << 2]) + unsigned(formal.min_arity)
        row += unsigned(len(schema.attributes))
        for name, attribute in schema.attributes.items():
            kind = int(attribute.type.value)
            has_default = bool(attribute.default_value.type)
            row += text(name) + unsigned(kind) + bytes([int(attribute.required) | int(has_default) << 1])
            if has_default:
                row += default_value(kind, attribute)
        start = len(self.blob)
        self.blob += row
        return start


def c_string(data: bytes, width: int = 32) -> str:
    """Format bytes as adjacent string literals. Octal escapes of three digits never swallow what follows."""
    lines = []
    for i in range(0, len(data), width):
        lines.append('"' + "".join(f"\\{byte:03o}" for byte in data[i : i + width]) + '"')
    return "\n    ".join(lines)


def generate() -> str:
    """Return the text of the table."""
    table = Table()
    operators: dict[tuple[str, str], list[OpSchema]] = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain not in DOMAINS:
            raise ValueError(f"{schema.domain}.{schema.name}: a domain that this generator does not know")
        operators[schema.domain, schema.name].append(schema)

    rows: list[int] = []
    index: list[str] = []
    for domain, name in sorted(operators):
        # Newest first: the one that a lookup wants is usually the first or second.
        versions = sorted(operators[domain, name], key=lambda s: -s.since_version)
        first = len(rows)
        for schema in versions:
            rows.append(table.add(schema))
        index.append(f'    {{"{domain}", "{name}", {first}, {len(versions)}}},')

    latest: dict[str, int] = defaultdict(int)
    for (domain, _), versions in operators.items():
        latest[domain] = max(latest[domain], *(s.since_version for s in versions))
    # An opset may be newer than every operator in it.
    latest[""] = max(latest[""], onnx.defs.onnx_opset_version())
    latest["ai.onnx.ml"] = max(latest["ai.onnx.ml"], onnx.defs.onnx_ml_opset_version())

    sets = [
        f"    {{{t:#x}u, {s:#x}u, {o:#x}u, {q:#x}u, {'true' if other else 'false'}}},"
        for t, s, o, q, other in table.type_sets
    ]
    row_lines = [f"    {', '.join(str(r) for r in rows[i : i + 16])}," for i in range(0, len(rows), 16)]
    return "\n".join(
        [
            f"// Generated by generate_schemas.py from onnx {onnx.__version__}. Do not edit.",
            "constexpr TypeSet kTypeSets[] = {",
            *sets,
            "};",
            "constexpr DomainRow kDomains[] = {",
            *(f'    {{"{domain}", {version}}},' for domain, version in sorted(latest.items())),
            "};",
            "constexpr OperatorRow kOperators[] = {  // sorted by domain and name",
            *index,
            "};",
            f"constexpr std::size_t kRowCount = {len(rows)};",
            "constexpr uint32_t kRows[kRowCount] = {  // where each version starts in the blob, newest first",
            *row_lines,
            "};",
            f"constexpr std::size_t kBlobSize = {len(table.blob)};",
            "constexpr char kBlob[kBlobSize + 1] =",
            f"    {c_string(bytes(table.blob))};",
            "",
        ]
    )


def main() -> int:
    """Write the table to the path given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    args = parser.parse_args()
    args.output.write_text(generate(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
