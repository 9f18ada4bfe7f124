"""Numbers for the worlds of many peers: each peer counts its own, the policy behind them sees one count."""

from __future__ import annotations

import threading
from collections.abc import Hashable

from evaluator.policies.codec import WireError

MOST = 65_536
"""Most worlds that all peers together may have."""


class Slots:
    """Gives each world of each peer a number of its own.

    A world keeps its number as long as no other peer has it, so that a policy behind one client draws the same random
    numbers as without a server in between; else it gets the smallest one that is free.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, dict[int, tuple[int, int]]] = {}
        """Number and episode by world, by peer."""
        self._taken: set[int] = set()
        self._lock = threading.Lock()

    def find(self, peer: Hashable, world: int, episode: int) -> tuple[int, bool]:
        """Return a world's number, and whether the episode is another one than before.

        Raises:
            WireError: There are too many worlds.
        """
        with self._lock:
            worlds = self._known.setdefault(peer, {})
            slot, before = worlds[world] if world in worlds else (self._new(world), None)
            worlds[world] = (slot, episode)
            return slot, before != episode

    def free(self, peer: Hashable) -> None:
        """Take back all numbers of a peer that is gone."""
        with self._lock:
            self._taken.difference_update(slot for slot, _ in self._known.pop(peer, {}).values())

    def _new(self, world: int) -> int:
        if len(self._taken) >= MOST:
            raise WireError(f"more than {MOST} worlds")
        if not 0 <= world < MOST or world in self._taken:
            world = next(slot for slot in range(MOST) if slot not in self._taken)
        self._taken.add(world)
        return world
