# SPDX-License-Identifier: Apache-2.0
"""Keeps the picture of a long or wide graph as wide as a screen at most: wide layers in several, layers in columns."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WIDEST = 1800.0  # for a screen, at the size that the text has
TALLEST = 1000.0  # a picture up to this height is left as it is
WANTED = 1.5  # width by height, of a picture that is folded, as far as it does not become too wide
TRACK = 6.0  # between lines that lead from the end of a column to the start of the next one


def packed_layers(
    layer: Sequence[int], edges: Sequence[tuple[int, int]], widths: Sequence[float], widest: float
) -> list[int]:
    """Returns the layer of each box when none is wider than `widest`; the ones given where that is so already.

    Boxes are taken along the paths to each end of the graph, so that those of one path stay near each other, and each
    is put as far up as what it reads and the room in the layers allow.

    Parameters
    ----------
    layer : sequence of int
        The layer of each box so far.
    edges : sequence of (int, int)
        From which box to which.
    widths : sequence of float
        Room that each box takes.
    widest : float
        For the boxes of one layer.
    """
    used: list[float] = []
    for box, at in enumerate(layer):
        used += [0.0] * (at + 1 - len(used))
        used[at] += widths[box]
    if max(used, default=0.0) <= widest:
        return list(layer)
    reads: list[list[int]] = [[] for _ in layer]
    is_read = [False] * len(layer)
    for a, b in edges:
        reads[b].append(a)
        is_read[a] = True
    used, result = [], [-1] * len(layer)

    def put(box: int, at: int) -> None:
        while at < len(used) and used[at] and used[at] + widths[box] > widest:
            at += 1
        used.extend([0.0] * (at + 1 - len(used)))
        used[at] += widths[box]
        result[box] = at

    for end in (box for box in range(len(layer)) if not is_read[box]):
        todo = [end]
        while todo:
            box = todo[-1]
            missing = [other for other in reads[box] if result[other] < 0 and reads[other]]
            if missing:
                todo += reversed(missing)
                continue
            todo.pop()
            if result[box] >= 0:
                continue
            lowest = max((result[other] for other in reads[box]), default=-1)
            for other in reads[box]:  # what reads nothing is placed by its first reader, beside what that reads
                if result[other] < 0:
                    put(other, max(lowest, 0))
            put(box, 1 + max((result[other] for other in reads[box]), default=-1))
    return result


class Folding:
    """Cuts layers into bands that stand side by side, where all in one column would be too tall.

    Attributes
    ----------
    band : list of int
        Of each layer.
    shifts : list of (float, float)
        How far the layers of each band move.
    width, height : float
        Of the whole.

    Parameters
    ----------
    tops, heights, lefts, rights : sequence of float
        Where each layer is in one column.
    crossings : sequence of sequence of (float, int)
        For each layer the items from which lines lead to the next layer: where their centres are, and which they are.
    gap : float
        Between columns.
    widest : float
        For the whole, unless a single column is wider.
    """

    def __init__(
        self,
        tops: Sequence[float],
        heights: Sequence[float],
        lefts: Sequence[float],
        rights: Sequence[float],
        crossings: Sequence[Sequence[tuple[float, int]]],
        gap: float,
        widest: float,
    ) -> None:
        self.tops, self.heights, self.lefts, self.rights = tops, heights, lefts, rights
        self.crossings, self.gap = crossings, gap
        tall = self.try_bands(1)
        if tall > max(TALLEST, self.width / WANTED):
            best = most = 1
            strangest = self.strangeness(1)
            while most < len(tops) and self.width <= widest:
                most += 1
                strangeness = self.strangeness(most)
                if strangeness < strangest and self.width <= widest:
                    best, strangest = most, strangeness
            self.try_bands(best)

    def strangeness(self, count: int) -> float:
        """Returns how far the shape with so many bands is from the one wanted."""
        self.try_bands(count)
        return abs(math.log(self.width / self.height / WANTED))

    def try_bands(self, count: int) -> float:
        """Places the layers in about `count` bands of the same height, and returns the height of the whole."""
        all_height = self.tops[-1] + self.heights[-1] if self.tops else 0.0
        self.band = [min(int(top * count / max(all_height, 1.0)), count - 1) for top in self.tops]
        starts = [i for i, band in enumerate(self.band) if i == 0 or band != self.band[i - 1]]
        ends = [*starts[1:], len(self.tops)][: len(starts)]
        number = -1
        for i in range(len(self.band)):
            number += i in starts
            self.band[i] = number
        cuts = [end - 1 for end in ends[:-1]]
        self.room = max((TRACK * (len(self.crossings[cut]) + 1) for cut in cuts), default=0.0)
        self.shifts: list[tuple[float, float]] = []
        self.floors: list[float] = []
        self.right_edges: list[float] = []
        x = self.height = 0.0
        for start, end in zip(starts, ends, strict=True):
            left, right = min(self.lefts[start:end]), max(self.rights[start:end])
            self.shifts.append((x - left, self.room - self.tops[start]))
            self.floors.append(self.tops[end - 1] + self.heights[end - 1] + self.shifts[-1][1])
            self.right_edges.append(x + right - left)
            tracks = len(self.crossings[end - 1]) if end - 1 in cuts else 0
            x = self.right_edges[-1] + 2 * self.gap + TRACK * tracks
            self.height = max(self.height, self.floors[-1] + TRACK * (tracks + 1) * bool(tracks))
        self.width = self.right_edges[-1] if self.right_edges else 0.0
        self.track = {
            item: (j, len(self.crossings[cut]))
            for cut in cuts
            for j, (_, item) in enumerate(sorted(self.crossings[cut], reverse=True))
        }
        return self.height

    def way(
        self, item: int, band: int, start: tuple[float, float], end: tuple[float, float]
    ) -> list[tuple[float, float]]:
        """Returns the points of a line from an item at the end of a band to one at the start of the next band.

        It leads below its band, up beside it, and above the next one; no lines share a part but those of one item.
        """
        j, count = self.track[item]
        floor = self.floors[band] + TRACK * (j + 1)
        beside = self.right_edges[band] + self.gap + TRACK * j
        above = self.room - TRACK * (count - j)
        return [start, (start[0], floor), (beside, floor), (beside, above), (end[0], above), end]
