# SPDX-License-Identifier: Apache-2.0
"""Write docs/operators.md: which operators of the installed onnx run natively, from the registry of the built kernels.

`./dev support-matrix` runs it; a test fails when the page is not what it would write.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from onnx import helper
from onnx.defs import OpSchema
from onnx.reference import ReferenceEvaluator

DOCS = Path(__file__).resolve().parent
DOMAINS = {"": "ai.onnx"}
ELEMENTS = {
    "floats": ("float16", "bfloat16", "float", "double"),
    "integers": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    "8-bit floats": ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"),
    "4-bit integers": ("int4", "uint4"),
    "2-bit integers": ("int2", "uint2"),
    "6-bit floats": ("float6e2m3", "float6e3m2"),
    "complex": ("complex64", "complex128"),
}
KINDS = (
    ("tensor(", ")", ""),
    ("seq(tensor(", "))", "sequences of "),
    ("optional(tensor(", "))", "optional "),
    ("optional(seq(tensor(", ")))", "optional sequences of "),
)
HEAD = """\
# Operators

Every operator of onnx {version} and who runs it, from the registry of kernels itself; `./dev support-matrix` writes
this page. Natively run {native} of {total}:
{counts}.

"Versions" are those of the operator, as ONNX counts them, with native kernels; beside them those without, if there
are any. Element types are those of the newest version, by the name that ONNX gives the type parameter, with the types
that ONNX allows and no kernel takes. These, versions without kernels and, where the page says "some nodes", attributes
that the kernel does not have go to `onnx.reference`, if the extra `reference` is installed and
`SessionOptions.reference_fallback` is on. `Resize` and `Upsample` refuse to interpolate strings, and to give complex
numbers a value outside the image (`tf_crop_and_resize`). "floats" are float16, bfloat16, float and double, "integers"
the signed and unsigned ones of 8 to 64 bits.
"""


@dataclass(frozen=True)
class Operator:
    """One operator with all its versions, oldest first."""

    schemas: list[OpSchema]
    kernels: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.schemas[-1].name

    def kernels_of(self, schema: OpSchema) -> list[dict[str, Any]]:
        """Return the kernels for one version."""
        return [kernel for kernel in self.kernels if kernel["since"] <= schema.since_version <= kernel["until"]]

    @property
    def native(self) -> list[OpSchema]:
        """The versions with kernels."""
        return [schema for schema in self.schemas if self.kernels_of(schema)]

    @property
    def others(self) -> list[OpSchema]:
        """The versions without."""
        return [schema for schema in self.schemas if not self.kernels_of(schema)]


def operators() -> dict[str, list[Operator]]:
    """Return the operators of each domain, by name."""
    program = Path(os.environ["ONNX_LIGHT_ORT_BUILD"]) / "packages" / "runtime" / "tests" / "light_dump"
    lines = subprocess.run([program, "--kernels"], check=True, capture_output=True, text=True).stdout.splitlines()
    kernels = defaultdict(list)
    for kernel in map(json.loads, lines):
        kernels[kernel["domain"], kernel["name"]].append(kernel)
    schemas = defaultdict(list)
    for schema in sorted(onnx.defs.get_all_schemas_with_history(), key=lambda schema: schema.since_version):
        schemas[schema.domain, schema.name].append(schema)
    found = defaultdict(list)
    for key in sorted(schemas):
        found[key[0]].append(Operator(schemas[key], kernels[key]))
    return found


def admitted(schema: OpSchema, parameter: str, kernel: dict[str, Any]) -> set[str]:
    """Return the types that a kernel takes for a type parameter, or for the type itself where the schema fixes it."""
    formals = [*schema.inputs, *schema.outputs]
    named = {formal.name for formal in formals if formal.type_str == parameter}
    types = next(set(formal.types) for formal in formals if formal.type_str == parameter)
    for constrained, allowed in kernel["constraints"]:
        if constrained == parameter or (constrained in named and constrained not in parameters(schema)):
            types &= set(allowed.split(", "))
    return types


def parameters(schema: OpSchema) -> list[str]:
    """Return the type parameters that can be more than one type, in the order of the arguments."""
    several = {constraint.type_param_str for constraint in schema.type_constraints}
    return list(dict.fromkeys(f.type_str for f in [*schema.inputs, *schema.outputs] if f.type_str in several))


def listed(types: set[str]) -> str:
    """Return types in words, by the names of their elements."""
    words = []
    for before, after, title in KINDS:
        elements = {name[len(before) : -len(after)] for name in types if name.startswith(before)}
        named = []
        for group, members in ELEMENTS.items():
            if elements >= set(members):
                named.append(group)
                elements -= set(members)
        if named or elements:
            words.append(title + ", ".join([*named, *sorted(elements)]))
    return ", and ".join([*words, *(["maps"] if any("map(" in name for name in types) else [])])


def types_of(schema: OpSchema, kernels: list[dict[str, Any]]) -> str:
    """Return the types of each type parameter that some kernel takes."""
    cells = []
    for parameter in parameters(schema):
        allowed = next(set(f.types) for f in [*schema.inputs, *schema.outputs] if f.type_str == parameter)
        taken = set().union(*(admitted(schema, parameter, kernel) for kernel in kernels))
        left = f" (not {listed(allowed - taken)})" if allowed - taken else ""
        cells.append(f"{parameter}: {listed(taken)}{left}")
    return "; ".join(cells)


def without_kernel(schema: OpSchema) -> str:
    """Return what happens to nodes of a version that has no kernel."""
    if schema.deprecated:
        return "refused: ONNX has withdrawn the operator"
    if any(attribute.type == OpSchema.AttrType.GRAPH for attribute in schema.attributes.values()):
        return "not run: onnx.reference is not asked for nodes with subgraphs"
    if any("map(" in name for formal in [*schema.inputs, *schema.outputs] for name in formal.types):
        return "not run: there are no values that are maps"
    inputs = [f"input{i}" for i in range(schema.min_input)]
    outputs = [f"output{i}" for i in range(schema.min_output)]
    node = helper.make_node(schema.name, inputs, outputs, domain=schema.domain)
    infos = [
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names]
        for names in (inputs, outputs)
    ]
    opset = helper.make_opsetid(schema.domain, schema.since_version)
    try:
        ReferenceEvaluator(helper.make_model(helper.make_graph([node], "one", *infos), opset_imports=[opset]))
    except NotImplementedError:
        return "not run: onnx.reference does not have it"
    except RuntimeError:
        pass  # it has the operator, and misses an attribute
    return "`onnx.reference`"


def row(operator: Operator) -> list[str]:
    """Return the cells of one operator."""
    versions = ", ".join(str(schema.since_version) for schema in operator.native)
    if operator.others:
        versions += f" (not {', '.join(str(schema.since_version) for schema in operator.others)})"
    remarks = {schema.since_version: without_kernel(schema) for schema in operator.others}
    if not operator.native:
        return [operator.name, versions.strip(" ()"), "", *set(remarks.values())]
    newest = operator.native[-1]
    kernels = operator.kernels_of(newest)
    runs = "native" + (", some nodes `onnx.reference`" if all(kernel["may_decline"] for kernel in kernels) else "")
    runs += "".join(f"; {version}: {remark}" for version, remark in remarks.items())
    return [operator.name, versions, types_of(newest, kernels), runs]


def page() -> str:
    """Return the page in Markdown."""
    found = operators()
    native = {domain: sum(bool(operator.native) for operator in found[domain]) for domain in found}
    counts = ", ".join(f"{native[domain]} of {len(found[domain])} of {DOMAINS.get(domain, domain)}" for domain in found)
    total = sum(map(len, found.values()))
    lines = [HEAD.format(version=onnx.__version__, native=sum(native.values()), total=total, counts=counts)]
    for domain, of_domain in found.items():
        lines += [
            f"## {DOMAINS.get(domain, domain)}",
            "",
            "| operator | versions | types | runs |",
            "|---|---|---|---|",
        ]
        lines += ["| " + " | ".join(row(operator)) + " |" for operator in of_domain]
        lines.append("")
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """Return the content of each file."""
    return {DOCS / "operators.md": page()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
