# SPDX-License-Identifier: Apache-2.0
"""A picture of a graph that shows who runs which node."""

from __future__ import annotations

from html import escape

from .graph_folding import WIDEST
from .graph_layout import BEND_WIDTH, GAP, LAYER_GAP, layout
from .providers import CPU_PROVIDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .records import NodeArg, NodeAssignment, Partition

NATIVE, FALLBACK = "native kernel", "reference fallback"
NATIVE_FILL, FALLBACK_FILL = "#dce8f5", "#e6e6e6"
FILLS = ("#fde2c4", "#d5efd0", "#f3d6ea", "#fbf3b9", "#cdeeee", "#e2d8f3", "#f7cfc9", "#e3eab9")
LONGEST_LINE = 200
BOX_WIDTH, BOX_HEIGHT, PILL_HEIGHT, MARGIN, LINE_HEIGHT = 176.0, 58.0, 26.0, 16.0, 16.0
MOST_GROUPS, MOST_LETTERS = 20, 150
STYLE = (
    "text{font:12px sans-serif;fill:#222}.o{font-weight:bold}.n,.k{font-size:10px}.k{fill:#555}"
    "rect{stroke:#555;rx:4px}.s{stroke-width:2.5}.p{fill:#fff;rx:13px}"
    ".g{fill:#fff;fill-opacity:.6;stroke-dasharray:4 3}path{fill:none;stroke:#888}"
)


def runner(row: NodeAssignment) -> str:
    """Returns who runs a node, in the words of the legend."""
    if row.provider != CPU_PROVIDER:
        return row.provider
    if row.library:
        return f"custom operators of {row.library.rpartition('/')[2]}"
    return FALLBACK if row.kernel.startswith("onnx.reference") else NATIVE


def fills_of(rows: Iterable[NodeAssignment]) -> dict[str, str]:
    """Returns the colour of each runner, native kernels first."""
    known = {NATIVE: NATIVE_FILL, FALLBACK: FALLBACK_FILL}
    names = dict.fromkeys(runner(row) for row in rows)
    others = [name for name in names if name not in known]
    known.update({name: FILLS[i % len(FILLS)] for i, name in enumerate(others)})
    return {name: known[name] for name in sorted(names, key=lambda name: (name != NATIVE, name))}


def clean(text: str, most: int = 1000) -> str:
    """Returns text for XML, its start cut if it is longer than ``most`` characters: names differ at their ends."""
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return escape(shown if len(shown) <= most else "…" + shown[1 - most :])


class Drawing:
    """Elements of a picture and the room that they take."""

    def __init__(self) -> None:
        self.width = self.height = 0.0
        self.parts: list[str] = []

    def text(self, kind: str, x: float, y: float, text: str, most: int = 1000) -> None:
        """Adds a line of text."""
        self.parts.append(f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{clean(text, most)}</text>')

    def rect(self, attributes: str, x: float, y: float, width: float, height: float) -> None:
        """Adds a rectangle."""
        self.parts.append(f'<rect {attributes} x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}"/>')

    def put(self, other: Drawing, x: float, y: float) -> None:
        """Adds another drawing at a place."""
        self.parts += [f'<g transform="translate({x:.0f} {y:.0f})">', *other.parts, "</g>"]
        self.width, self.height = max(self.width, x + other.width), max(self.height, y + other.height)

    def line(self, points: Sequence[tuple[float, float]]) -> None:
        """Adds a line through points: straight along an axis, else a curve."""
        (x, y), *rest = points
        path = [f"M{x:.0f} {y:.0f}"]
        for to_x, to_y in rest:
            middle = (y + to_y) / 2
            path.append(
                f"L{to_x:.0f} {to_y:.0f}"
                if to_x == x or to_y == y
                else f"C{x:.0f} {middle:.0f} {to_x:.0f} {middle:.0f} {to_x:.0f} {to_y:.0f}"
            )
            x, y = to_x, to_y
        self.parts.append(f'<path d="{"".join(path)}"/>')


class Picture:
    """Draws a graph, and the graphs inside its nodes inside their boxes."""

    def __init__(self, rows: Sequence[NodeAssignment]) -> None:
        self.fills = fills_of(rows)
        self.rows: dict[str, list[NodeAssignment]] = {}
        for row in rows:
            self.rows.setdefault(row.graph, []).append(row)

    def graph(
        self, path: str, inputs: Sequence[str] = (), outputs: Sequence[str] = (), widest: float = WIDEST - 2 * MARGIN
    ) -> Drawing:
        """Draws one graph; the names are those of its inputs and outputs where they are to be seen."""
        boxes = [pill(name) for name in inputs]
        makers: dict[str, int] = {name: i for i, name in enumerate(inputs)}
        edges: dict[tuple[int, int], None] = {}
        for row in self.rows.get(path, ()):
            for name in row.inputs:
                if name in makers:
                    edges[makers[name], len(boxes)] = None
            for name in filter(None, row.outputs):
                makers[name] = len(boxes)
            boxes.append(self.node(row, widest))
        for name in outputs:
            if name in makers:
                edges[makers[name], len(boxes)] = None
            boxes.append(pill(name))
        places = layout([(box.width, box.height) for box in boxes], list(edges), widest)
        drawing = Drawing()
        for points in places.lines:
            drawing.line(points)
        for box, x, y in zip(boxes, places.x, places.y, strict=True):
            drawing.put(box, x, y)
        drawing.width, drawing.height = places.width, places.height
        return drawing

    def node(self, row: NodeAssignment, widest: float) -> Drawing:
        """Draws one node, with its subgraphs side by side as far as there is room."""
        step = f"{row.graph}/#{row.index}." if row.graph else f"#{row.index}."
        bodies = [path for path in self.rows if path.startswith(step) and "/" not in path[len(step) :]]
        inner, x, y = Drawing(), MARGIN, BOX_HEIGHT
        widest -= GAP + BEND_WIDTH  # for a line beside it
        for path in bodies:
            body = self.graph(path, widest=max(widest - 4 * MARGIN, 2 * BOX_WIDTH))
            if x > MARGIN and x + body.width + 3 * MARGIN > widest:
                x, y = MARGIN, inner.height + MARGIN + GAP
            inner.rect('class="g"', x, y, body.width + 2 * MARGIN, body.height + 2 * MARGIN + LINE_HEIGHT)
            inner.text("n", x + 6, y + 14, path[len(step) :])
            inner.put(body, x + MARGIN, y + LINE_HEIGHT + MARGIN)
            x += body.width + 2 * MARGIN + GAP
        drawing = Drawing()
        who = runner(row)
        width = max(BOX_WIDTH, inner.width + 2 * MARGIN)
        height = inner.height + 2 * MARGIN if bodies else BOX_HEIGHT
        drawing.parts.append(f"<g><title>{clean(details(row))}</title>")
        step = 'class="s" ' if row.partition >= 0 else ""
        drawing.rect(f'{step}fill="{self.fills[who]}"', 0, 0, width, height)
        drawing.text("o", 8, 17, row.op_type, 24)
        drawing.text("n", 8, 33, row.name or f"#{row.index}", 30)
        drawing.text("k", 8, 49, badge(row), 30)
        drawing.parts += [*inner.parts, "</g>"]
        drawing.width, drawing.height = width, height
        return drawing


def badge(row: NodeAssignment) -> str:
    """Returns who runs a node, short enough for its box."""
    who = row.library.rpartition("/")[2] if row.library and row.provider == CPU_PROVIDER else runner(row)
    return who if row.partition < 0 else f"{who}, group {row.partition}"


def details(row: NodeAssignment) -> str:
    """Returns what the pointer shows over a node."""
    name = f"{row.domain}.{row.op_type}" if row.domain else row.op_type
    return (
        f"{name} '{row.name}': {row.kernel} of {row.provider}{f' ({row.library})' if row.library else ''}; {row.reason}"
    )


def pill(name: str) -> Drawing:
    """Draws an input or output of the model."""
    drawing = Drawing()
    drawing.width, drawing.height = min(BOX_WIDTH, 24.0 + 7 * len(name)), PILL_HEIGHT
    drawing.parts.append(f"<g><title>{clean(name)}</title>")
    drawing.rect('class="p"', 0, 0, drawing.width, drawing.height)
    drawing.text("n", 12, 17, name, 24)
    drawing.parts.append("</g>")
    return drawing


def legend(fills: Mapping[str, str], rows: Sequence[NodeAssignment]) -> Drawing:
    """Draws what the colours mean and how many nodes have each."""
    drawing = Drawing()
    for i, (name, fill) in enumerate(fills.items()):
        count = sum(runner(row) == name for row in rows)
        y = i * (LINE_HEIGHT + 6)
        drawing.rect(f'fill="{fill}"', 0, y, 22, LINE_HEIGHT)
        label = f"{name[-LONGEST_LINE:]}: {count} node{'s' if count != 1 else ''}"
        drawing.text("", 30, y + 13, label)
        drawing.width = max(drawing.width, 30.0 + 7 * len(label))
        drawing.height = y + LINE_HEIGHT
    return drawing


def groups(partitions: Sequence[Partition]) -> Drawing:
    """Draws a line for each group that was compiled: what it receives and makes, and which constants it holds."""
    drawing = Drawing()
    lines = []
    for group in partitions[:MOST_GROUPS]:
        where = f" in {group.graph}" if group.graph else ""
        line = f"group {group.index}{where} of {group.provider}: {', '.join(group.inputs) or 'nothing'}"
        line += f" → {', '.join(group.outputs)}"
        lines.append(line + (f"; compiled with {', '.join(group.constants)}" if group.constants else ""))
    if len(partitions) > MOST_GROUPS:
        lines.append(f"and {len(partitions) - MOST_GROUPS} more groups")
    for i, line in enumerate(lines):
        short = line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 1] + "…"
        drawing.parts.append(f"<g><title>{clean(line, 4000)}</title>")
        drawing.text("n", 0, i * LINE_HEIGHT + 12, short)
        drawing.parts.append("</g>")
        drawing.width, drawing.height = max(drawing.width, 6.0 * len(short)), (i + 1) * LINE_HEIGHT
    return drawing


def draw(
    rows: Sequence[NodeAssignment],
    inputs: Sequence[NodeArg],
    outputs: Sequence[NodeArg],
    title: str = "",
    partitions: Sequence[Partition] = (),
) -> str:
    """Draws who runs which node.

    Parameters
    ----------
    rows : sequence of NodeAssignment
        All nodes, as ``InferenceSession.node_assignments`` returns them.
    inputs, outputs : sequence of NodeArg
        Those of the model.
    title : str, optional
        Written above.
    partitions : sequence of Partition, optional
        The groups that were compiled, as ``InferenceSession.partitions`` returns them.

    Returns
    -------
    str
        An SVG file. The pointer shows the reason for each node. Nodes of a group have a thick border.
    """
    picture = Picture(rows)
    whole = Drawing()
    title = title[-LONGEST_LINE:]
    whole.text("o", MARGIN, MARGIN + 12, title)
    whole.put(legend(picture.fills, rows), MARGIN, MARGIN + 2 * LINE_HEIGHT)
    if partitions:
        whole.put(groups(partitions), MARGIN, whole.height + LINE_HEIGHT)
    body = picture.graph("", [arg.name for arg in inputs], [arg.name for arg in outputs])
    whole.put(body, MARGIN, whole.height + LAYER_GAP)
    width, height = max(whole.width, MARGIN + 8.0 * len(title)) + MARGIN, whole.height + MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">\n<style>{STYLE}</style>\n<rect width="100%" height="100%" '
        'style="fill:#fff;stroke:none"/>\n'
    )
    return head + "\n".join(whole.parts) + "\n</svg>\n"
