# SPDX-License-Identifier: Apache-2.0
"""An ``OrtAllocator`` that a plugin supplies, with the blocks it has given out."""

from __future__ import annotations

import ctypes as C
from typing import TYPE_CHECKING

from .abi import E, PluginStruct

if TYPE_CHECKING:
    from .probe import Probe


class PluginAllocator(PluginStruct):
    """CPU allocator written in Python; ``live`` maps addresses to sizes, ``sizes`` lists every request.

    Parameters
    ----------
    probe
        The probe that records exceptions.
    fail_after
        Number of requests answered before the allocator starts to return null; None never fails.
    """

    def __init__(self, probe: Probe, fail_after: int | None = None):
        super().__init__("OrtAllocator", 30, probe.guard)
        self.live: dict[int, C.Array] = {}
        self.sizes: list[int] = []
        self.freed: list[int | None] = []
        self._api, self._fail_after = probe.api, fail_after
        self.info = probe.api.get.CreateCpuMemoryInfo(E.OrtDeviceAllocator, E.OrtMemTypeDefault)
        self.set("Alloc", self._alloc)
        self.set("Free", self._free)
        self.set("Info", lambda this: self.info)
        probe.keep.append(self)

    def _alloc(self, this: int, size: int) -> int:
        self.sizes.append(size)
        if self._fail_after is not None and len(self.sizes) > self._fail_after:
            return 0
        block = C.create_string_buffer(size + 64)
        address = (C.addressof(block) + 63) & ~63
        self.live[address] = block
        return address

    def _free(self, this: int, pointer: int | None) -> None:
        self.freed.append(pointer)
        if pointer:
            del self.live[pointer]
