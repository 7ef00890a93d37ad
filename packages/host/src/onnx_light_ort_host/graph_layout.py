# SPDX-License-Identifier: Apache-2.0
"""Places the boxes of a directed graph in layers, so that edges go downwards."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SWEEPS = 6
GAP = 24.0
LAYER_GAP = 40.0
BEND_WIDTH = 6.0


class Layout:
    """Where boxes are, and the bends of the lines between them.

    Attributes
    ----------
    x, y : list of float
        Left and upper edge of each box, in the order given.
    width, height : float
        Of the whole.
    lines : list of list of (float, float)
        Points from the lower edge of one box to the upper edge of another or to a bend where lines part.
    """

    __slots__ = ("height", "lines", "width", "x", "y")

    def __init__(self, x: list[float], y: list[float], width: float, height: float) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        self.lines: list[list[tuple[float, float]]] = []


def layers_of(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the layer of each box: below all that it reads; one that reads nothing is just above its first reader."""
    layer = [0] * count
    readers: list[list[int]] = [[] for _ in range(count)]
    is_source = [True] * count
    for a, b in sorted(edges, key=lambda edge: edge[1]):  # a box comes after what it reads
        layer[b] = max(layer[b], layer[a] + 1)
        readers[a].append(b)
        is_source[b] = False
    for box in range(count):
        if is_source[box] and readers[box]:
            layer[box] = min(layer[reader] for reader in readers[box]) - 1
    return layer


class Columns:
    """The items of each layer from left to right: boxes, and bends of lines that pass a layer.

    All lines that leave one box share their bends, so that a value with many readers is one line that parts.
    """

    def __init__(self, sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> None:
        self.widths = [width for width, _ in sizes]
        self.layer = layers_of(len(sizes), edges)
        depth = max(self.layer, default=-1) + 1
        links: dict[tuple[int, int], None] = {}
        bends: dict[tuple[int, int], int] = {}
        for a, b in edges:
            above = a
            for layer in range(self.layer[a] + 1, self.layer[b]):
                bend = bends.get((a, layer))
                if bend is None:
                    bend = bends[a, layer] = len(self.widths)
                    self.widths.append(BEND_WIDTH)
                    self.layer.append(layer)
                links[above, bend] = None
                above = bend
            links[above, b] = None
        self.links = list(links)
        self.rows: list[list[int]] = [[] for _ in range(depth)]
        for item, layer in enumerate(self.layer):
            self.rows[layer].append(item)
        self.above: list[list[int]] = [[] for _ in self.widths]
        self.below: list[list[int]] = [[] for _ in self.widths]
        for a, b in self.links:
            self.above[b].append(a)
            self.below[a].append(b)

    def order(self) -> None:
        """Sorts each layer by where its neighbours are, which takes most crossings away."""
        place = [0.0] * len(self.widths)
        for row in self.rows:
            for i, item in enumerate(row):
                place[item] = i
        for sweep in range(SWEEPS):
            downwards = sweep % 2 == 0
            near = self.above if downwards else self.below
            for row in self.rows if downwards else reversed(self.rows):
                wanted = {
                    item: sum(place[other] for other in near[item]) / len(near[item]) if near[item] else place[item]
                    for item in row
                }
                row.sort(key=wanted.__getitem__)
                for i, item in enumerate(row):
                    place[item] = i

    def centers(self) -> list[float]:
        """Returns the centre of each item: near its neighbours, in the order of its layer, without overlap."""
        center = [0.0] * len(self.widths)
        for row in self.rows:
            self.spread(row, dict.fromkeys(row, 0.0), center)
        for sweep in range(2 * SWEEPS):
            downwards = sweep % 2 == 0
            near = self.above if downwards else self.below
            for row in self.rows if downwards else reversed(self.rows):
                wanted = {
                    item: sum(center[other] for other in near[item]) / len(near[item]) if near[item] else center[item]
                    for item in row
                }
                self.spread(row, wanted, center)
        return center

    def spread(self, row: list[int], wanted: dict[int, float], center: list[float]) -> None:
        """Moves the items of a layer as little as possible from where they should be: half way between both ends."""
        from_left, from_right = [], []
        edge = float("-inf")
        for item in row:
            edge = max(wanted[item], edge + self.widths[item] / 2)
            from_left.append(edge)
            edge += self.widths[item] / 2 + GAP
        edge = float("inf")
        for item in reversed(row):
            edge = min(wanted[item], edge - self.widths[item] / 2)
            from_right.append(edge)
            edge -= self.widths[item] / 2 + GAP
        for item, left, right in zip(row, from_left, reversed(from_right), strict=True):
            center[item] = (left + right) / 2


def layout(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """Places boxes.

    Parameters
    ----------
    sizes : sequence of (float, float)
        Width and height of each box.
    edges : sequence of (int, int)
        From which box to which; a box comes after those that it reads.

    Returns
    -------
    Layout
        Boxes never overlap and lines never run through one.
    """
    columns = Columns(sizes, edges)
    columns.order()
    center = columns.centers()
    heights = [size[1] for size in sizes] + [0.0] * (len(center) - len(sizes))
    left = min((center[i] - width / 2 for i, width in enumerate(columns.widths)), default=0.0)
    right = max((center[i] + width / 2 for i, width in enumerate(columns.widths)), default=0.0)
    tops, row_heights, y = [], [], 0.0
    for row in columns.rows:
        tops.append(y)
        row_heights.append(max(heights[item] for item in row))
        y += row_heights[-1] + LAYER_GAP
    top = [tops[columns.layer[item]] for item in range(len(center))]
    result = Layout(
        [center[i] - size[0] / 2 - left for i, size in enumerate(sizes)],
        top[: len(sizes)],
        right - left,
        max(y - LAYER_GAP, 0.0),
    )
    for a, b in columns.links:
        end = (center[b] - left, top[b])
        points = [(center[a] - left, top[a] + heights[a])]
        floor = top[a] + row_heights[columns.layer[a]]
        if heights[a] and floor > points[0][1]:
            points.append((points[0][0], floor))  # past higher boxes of the same layer
        elif not heights[a]:
            points = [(points[0][0], top[a]), (points[0][0], floor)]  # a bend passes its layer straight
        points.append(end)
        result.lines.append(points)
    return result
