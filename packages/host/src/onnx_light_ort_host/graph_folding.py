# SPDX-License-Identifier: Apache-2.0
"""Keeps the picture of a long or wide graph in a shape that fits a screen: layers in several rows, rows in columns."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 4000.0  # a side up to this length is left as it is
STEEPEST = 3.5  # height by width, from which a tall picture is folded
WANTED = 1.5  # width by height, of a picture that is folded
TRACK = 6.0  # between lines that lead from the end of a column to the start of the next one


def split_layers(
    layer: Sequence[int], order: Sequence[Sequence[int]], rooms: Sequence[tuple[float, float]]
) -> list[int]:
    """Returns the layer of each box when those of a layer that is too wide stand in several rows.

    Parameters
    ----------
    layer : sequence of int
        The layer of each box so far.
    order : sequence of sequence of int
        The boxes of each layer from left to right.
    rooms : sequence of (float, float)
        Width and height that each box takes, with the gaps around it.
    """
    # So wide would a rectangle be that is as large as all boxes together.
    widest = max(LONGEST, math.sqrt(WANTED * sum(width * height for width, height in rooms)))
    result, added = list(layer), 0
    for i, row in enumerate(order):
        width = sum(rooms[box][0] for box in row)
        wanted = width / math.ceil(width / widest) if width else 0.0  # rows of the same length
        reached = 0.0
        for box in row:
            reached += rooms[box][0]
            if reached > wanted + 1 and reached > rooms[box][0]:
                added, reached = added + 1, rooms[box][0]
            result[box] = i + added
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
    """

    def __init__(
        self,
        tops: Sequence[float],
        heights: Sequence[float],
        lefts: Sequence[float],
        rights: Sequence[float],
        crossings: Sequence[Sequence[tuple[float, int]]],
        gap: float,
    ) -> None:
        self.tops, self.heights, self.lefts, self.rights = tops, heights, lefts, rights
        self.crossings, self.gap = crossings, gap
        tall = self.try_bands(1)
        if tall > LONGEST and tall > STEEPEST * self.width:
            most = min(len(tops), math.ceil(tall / LONGEST * 20))
            self.try_bands(min(range(1, most + 1), key=self.strangeness))

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
