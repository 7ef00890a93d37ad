# SPDX-License-Identifier: Apache-2.0
"""Places the boxes of a directed graph in layers, so that edges go downwards."""

from __future__ import annotations

from collections import Counter

from .graph_folding import WIDEST, Folding, packed_layers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SWEEPS = 6
GAP = 24.0
LAYER_GAP = 40.0
BEND_WIDTH = 12.0
BENDS = 200.0  # room in each layer that boxes leave to bends


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

    All lines that leave one box share their bends, so that a value with many readers is one line that parts; or all
    that reach one box, if these are more and `joins` is set.
    """

    def __init__(
        self,
        sizes: Sequence[tuple[float, float]],
        edges: Sequence[tuple[int, int]],
        layer: list[int],
        widest: float,
        joins: bool = False,
    ) -> None:
        self.widths = [width + GAP for width, _ in sizes]
        self.layer = list(layer)
        leaving, reaching = Counter(a for a, _ in edges), Counter(b for _, b in edges)
        depth = max(self.layer, default=-1) + 1
        links: dict[tuple[int, int], None] = {}
        bends: dict[tuple[bool, int, int], int] = {}
        for a, b in edges:
            above = a
            is_joining = joins and reaching[b] > leaving[a]
            for row in range(self.layer[a] + 1, self.layer[b]):
                key = is_joining, b if is_joining else a, row
                bend = bends.get(key)
                if bend is None:
                    bend = bends[key] = len(self.widths)
                    self.widths.append(0.0)
                    self.layer.append(row)
                links[above, bend] = None
                above = bend
            links[above, b] = None
        self.links = list(links)
        self.rows: list[list[int]] = [[] for _ in range(depth)]
        for item, row in enumerate(self.layer):
            self.rows[row].append(item)
        for items in self.rows:  # bends move together where they are many
            passing = [item for item in items if item >= len(sizes)]
            room = max(widest - self.width_of(items), 1.0)
            for item in passing:
                self.widths[item] = min(BEND_WIDTH, room / len(passing))
        self.widest = max(map(self.width_of, self.rows), default=0.0)
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
            edge += self.widths[item] / 2
        edge = float("inf")
        for item in reversed(row):
            edge = min(wanted[item], edge - self.widths[item] / 2)
            from_right.append(edge)
            edge -= self.widths[item] / 2
        for item, left, right in zip(row, from_left, reversed(from_right), strict=True):
            center[item] = (left + right) / 2
        # Else layers, each near the lines at an end of the one above, would drift further and further.
        left, right = -self.widest / 2, self.widest / 2 - self.width_of(row)
        for item in row:
            half = self.widths[item] / 2
            center[item] = min(max(center[item], left + half), right + half)
            left, right = left + 2 * half, right + 2 * half

    def width_of(self, row: list[int]) -> float:
        """Returns how wide a layer is at least."""
        return sum(self.widths[item] for item in row)


def arranged(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], widest: float) -> Columns:
    """Returns the layers with their items in order, none of them wider than `widest` if that can be."""
    layer = layers_of(len(sizes), edges)
    packed = packed_layers(layer, edges, [width + GAP for width, _ in sizes], max(widest - BENDS, widest / 2))
    columns = Columns(sizes, edges, packed, widest, joins=packed != layer)
    columns.order()
    return columns


def layout(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], widest: float = WIDEST) -> Layout:
    """Places boxes.

    Parameters
    ----------
    sizes : sequence of (float, float)
        Width and height of each box.
    edges : sequence of (int, int)
        From which box to which; a box comes after those that it reads.
    widest : float
        For the whole, unless a single box takes more.

    Returns
    -------
    Layout
        Boxes never overlap and lines never run through one. Lines lead downwards, but from one column to the next where
        the layers of a long graph stand in several columns.
    """
    columns = arranged(sizes, edges, widest)
    center = columns.centers()
    heights = [size[1] for size in sizes] + [0.0] * (len(center) - len(sizes))
    tops, row_heights, y = [], [], 0.0
    for row in columns.rows:
        tops.append(y)
        row_heights.append(max(heights[item] for item in row))
        y += row_heights[-1] + LAYER_GAP
    crossings = [[(center[item], item) for item in row if columns.below[item]] for row in columns.rows]
    lefts = [min(center[item] - columns.widths[item] / 2 for item in row) for row in columns.rows]
    rights = [max(center[item] + columns.widths[item] / 2 for item in row) for row in columns.rows]
    folding = Folding(tops, row_heights, lefts, rights, crossings, GAP, widest)
    band = [folding.band[columns.layer[item]] for item in range(len(center))]
    x = [center[item] + folding.shifts[band[item]][0] for item in range(len(center))]
    top = [tops[columns.layer[item]] + folding.shifts[band[item]][1] for item in range(len(center))]
    result = Layout(
        [x[i] - size[0] / 2 for i, size in enumerate(sizes)], top[: len(sizes)], folding.width, folding.height
    )
    for a, b in columns.links:
        start, end = (x[a], top[a] + heights[a]), (x[b], top[b])
        floor = top[a] + row_heights[columns.layer[a]]
        if band[a] != band[b]:
            points = folding.way(a, band[a], start, end)
        elif floor > start[1]:  # past higher boxes of the same layer; a bend passes its layer straight
            points = [start, (x[a], floor), end]
        else:
            points = [start, end]
        result.lines.append(points)
    return result
