"""Numbers for the worlds of many peers: each peer counts its own, the policy behind them sees one count."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Hashable

from evaluator.policies.codec import WireError

MOST = 65_536
"""Most worlds that all peers together may have."""


class Slots:
    """Gives each world of each peer a number of its own, the smallest one that is free."""

    def __init__(self) -> None:
        self._known: dict[Hashable, dict[int, tuple[int, int]]] = {}
        """Number and episode by world, by peer."""
        self._free: list[int] = []
        self._count = 0
        self._lock = threading.Lock()

    def find(self, peer: Hashable, world: int, episode: int) -> tuple[int, bool]:
        """Return a world's number, and whether the episode is another one than before.

        Raises:
            WireError: There are too many worlds.
        """
        with self._lock:
            worlds = self._known.setdefault(peer, {})
            if world in worlds:
                slot, before = worlds[world]
                worlds[world] = (slot, episode)
                return slot, before != episode
            if self._free:
                slot = heapq.heappop(self._free)
            elif self._count < MOST:
                slot, self._count = self._count, self._count + 1
            else:
                raise WireError(f"more than {MOST} worlds")
            worlds[world] = (slot, episode)
            return slot, True

    def free(self, peer: Hashable) -> None:
        """Take back all numbers of a peer that is gone."""
        with self._lock:
            for slot, _ in self._known.pop(peer, {}).values():
                heapq.heappush(self._free, slot)
