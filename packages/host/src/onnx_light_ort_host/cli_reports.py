# SPDX-License-Identifier: Apache-2.0
"""The commands ``explain``, ``inspect`` and ``support-matrix``."""

from __future__ import annotations

import io
import json
import os
import sys

from .cli_session import open_session
from .errors import InvalidArgument
from .process import inspect_library, support_matrix
from .providers import CPU_PROVIDER
from .terminal import shown, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from .ep_devices import Provider
    from .library_report import KernelReport, OperatorReport, ProviderReport
    from .records import NodeAssignment, Partition, SupportRow


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Formats rows as a table of aligned columns, each row on one line."""
    cells = [list(header), *[[shown(cell) for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def assignment_table(rows: Sequence[NodeAssignment]) -> str:
    """Formats who runs which node."""
    header = ("node", "name", "operator", "provider", "kernel", "library", "reason")
    return table(
        header,
        [
            (
                place(row),
                row.name,
                f"{row.domain}.{row.op_type}" if row.domain else row.op_type,
                row.provider if row.partition < 0 else f"{row.provider} (group {row.partition})",
                row.kernel,
                row.library,
                row.reason,
            )
            for row in rows
        ],
    )


def partition_table(partitions: Sequence[Partition], rows: Sequence[NodeAssignment]) -> str:
    """Formats the groups that providers compiled: nodes, what the step receives and makes, its constants."""
    names = {(row.graph, row.index): row.name or f"#{row.index}" for row in rows}
    header = ("group", "graph", "provider", "nodes", "receives", "makes", "compiled with")
    return table(
        header,
        [
            (
                group.index,
                group.graph or "main",
                group.provider,
                ", ".join(names[group.graph, node] for node in group.nodes),
                ", ".join(group.inputs),
                ", ".join(group.outputs),
                ", ".join(group.constants),
            )
            for group in partitions
        ],
    )


def place(row: NodeAssignment) -> str:
    """Returns where a node is: `#3`, or `#1.then_branch/#0` in a subgraph."""
    return f"{row.graph}/#{row.index}" if row.graph else f"#{row.index}"


def provider_table(providers: Sequence[Provider]) -> str:
    """Formats the execution providers of a session."""
    rows = [
        (p.name, p.library, p.audit, ", ".join(f"{k}={v}" for k, v in p.options.items()), p.notes) for p in providers
    ]
    return table(("provider", "library", "audit", "options", "notes"), rows)


def not_taken(rows: Sequence[NodeAssignment], arguments: argparse.Namespace) -> list[NodeAssignment]:
    """Returns the nodes that a provider of a library had to take and did not."""
    left = [row for row in rows if row.provider == CPU_PROVIDER]
    if arguments.require_all:  # a provider sees the value of a Constant, not the node
        return [row for row in left if (row.domain, row.op_type) != ("", "Constant")]
    for name in arguments.require:
        if not any(name in (row.name, place(row)) for row in rows):
            raise InvalidArgument(f"--require {name}: expected the name or place of a node, got one that is not there")
    return [row for row in left if {row.name, place(row)} & set(arguments.require)]


def explain(arguments: argparse.Namespace) -> int:
    """Shows who runs which node of a model, and why no execution provider took it."""
    is_picture_alone = arguments.svg == "-"
    if is_picture_alone and arguments.json:
        raise InvalidArgument("--svg -: expected a file together with --json, which has the output to itself")
    session = open_session(arguments)
    rows, partitions = session.node_assignments(), session.partitions()
    missed = not_taken(rows, arguments)
    if arguments.svg is not None:
        from .graph_picture import draw

        title = os.path.basename(arguments.model)
        picture = draw(rows, session.get_inputs(), session.get_outputs(), title, partitions)
        if is_picture_alone:
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(encoding="utf-8")
            print(picture, end="")
        else:
            with open(arguments.svg, "w", encoding="utf-8") as file:
                file.write(picture)
            tell(f"written: {arguments.svg}")
    if arguments.json:
        print(json.dumps([row.asdict() for row in (partitions if arguments.groups else rows)], indent=1))
    elif not is_picture_alone:
        if arguments.ep:
            print(provider_table(session._providers()), end="\n\n")
        if not arguments.groups:
            print(assignment_table(rows), end="\n\n" if partitions else "\n")
        if partitions or arguments.groups:
            print(partition_table(partitions, rows))
    for row in missed:
        tell(shown(f"not taken: {place(row)} '{row.name}' ({row.op_type}): {row.reason}"))
    return 1 if missed else 0


def operator_table(operators: Sequence[OperatorReport]) -> str:
    """Formats what a library registers."""
    declared = ("domain", "operator", "versions", "inputs", "outputs", "provider")
    header = (*declared, "inference", "in place", "shared", "problem")
    return table(
        header,
        [
            (
                op.domain,
                op.name or f"#{op.position}",
                f"{op.since_version}-{'' if op.end_version is None else op.end_version}",
                ", ".join(map(str, op.inputs)),
                ", ".join(map(str, op.outputs)),
                op.provider,
                "yes" if op.has_inference else "no",
                ", ".join(f"{i}->{o}" for i, o in op.may_inplace),
                ", ".join(f"{i}={o}" for i, o in op.aliases),
                op.problem,
            )
            for op in operators
        ],
    )


def kernel_table(kernels: Sequence[KernelReport]) -> str:
    """Formats the kernels of an execution provider."""
    header = ("operator", "versions", "types", "in place", "shared")
    return table(
        header,
        [
            (
                f"{kernel.domain}.{kernel.op_type}" if kernel.domain else kernel.op_type,
                kernel.since_version if kernel.end_version is None else f"{kernel.since_version}-{kernel.end_version}",
                "; ".join(f"{name}: {types}" for name, types in kernel.types.items()),
                ", ".join(f"{i}->{o}" for i, o in kernel.may_inplace),
                ", ".join(f"{i}={o}" for i, o in kernel.aliases),
            )
            for kernel in kernels
        ],
    )


def print_providers(providers: Sequence[ProviderReport]) -> None:
    """Prints the execution providers of a library."""
    for provider in providers:
        said = ", ".join(filter(None, (provider.vendor, provider.version)))
        where = ", ".join(provider.devices) or "nothing here"
        print(shown(f"provider {provider.name}{f' ({said})' if said else ''}: on {where}"))
        if provider.options:
            print(shown(f"options: {', '.join(f'{key}={value}' for key, value in provider.options.items())}"))
        if provider.problem:
            print(shown(f"cannot be created: {provider.problem}"))
        elif provider.devices:
            print(f"kernels: {len(provider.kernels)}")
            if provider.kernels:
                print(kernel_table(provider.kernels))


def inspect(arguments: argparse.Namespace) -> int:
    """Looks at a library without running anything of it; with --load at what it registers, too."""
    if arguments.load:
        from .child_registration import inspect_in_child  # with more of the standard library than the rest needs

        report = inspect_in_child(arguments.library)
    else:
        report = inspect_library(arguments.library)
    registered = report.registration
    if arguments.json:
        print(json.dumps({**report.asdict(), "verdict": report.verdict}, indent=1))
    else:
        print(shown(f"{report.path}: {report.verdict}"))
        for title, entries in (("exports", report.exports), ("needs", report.needed), ("loads", report.closure)):
            print(shown(f"{title}: {', '.join(entries) or 'nothing'}"))
        for hint in report.hints:
            print(shown(f"hint: {hint}"))
        if registered is not None:
            if registered.api_versions or not registered.failed_because:
                print(f"API versions asked for: {', '.join(map(str, registered.api_versions)) or 'none'}")
            if registered.failed_because:
                print(shown(f"registration failed: {registered.failed_because}"))
            print_providers(registered.providers)
            is_of_operators = not registered.failed_because and not registered.providers
            if registered.operators or is_of_operators:
                print(f"operators: {len(registered.operators)}\n{operator_table(registered.operators)}")
    is_broken = registered is not None and (
        bool(registered.failed_because)
        or any(op.problem for op in registered.operators)
        or any(provider.problem for provider in registered.providers)
    )
    return 1 if report.refused_because or is_broken else 0


def markdown(rows: Sequence[SupportRow]) -> str:
    """Formats the support matrix as a table in Markdown."""
    lines = ["| table | slot | since | profile | status | limit |", "|---|---|---|---|---|---|"]
    for row in rows:
        cells = (row.table, f"`{row.name}`", row.since, row.profile, row.status, row.limit)
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def matrix(arguments: argparse.Namespace) -> int:
    """Lists what of the ABI is supported."""
    rows = support_matrix()
    if arguments.json:
        print(json.dumps([row.asdict() for row in rows], indent=1))
    elif arguments.markdown:
        print(markdown(rows))
    else:
        header = ("table", "slot", "since", "profile", "status", "limit")
        print(table(header, [(row.table, row.name, row.since, row.profile, row.status, row.limit) for row in rows]))
    return 0
