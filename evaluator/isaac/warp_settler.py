"""The settle check for many scenes at once, by MuJoCo-Warp: on a GPU, or slowly on a processor."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import warp as wp

from evaluator.isaac.engine import warp_engine
from evaluator.isaac.settle_turns import Ends, SettleTurns
from evaluator.isaac.settle_worlds import SettleWorlds
from scenegen.cell import Cell
from scenegen.errors import InvalidOption, SceneGenError
from scenegen.geometry import Array
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.settle import STEPS_AT_ONCE, Settled, Settler
from scenegen.physics.settle_rows import SettleRows
from scenegen.physics.settling import SettleAnswer, SettleRequest
from scenegen.scenario import Layout, Matter

ALONE = -1
"""Ticket of a request that nothing else waits for."""


@dataclass(frozen=True)
class _Open:
    """A request that waits for a world, or has one."""

    ticket: int
    request: SettleRequest
    row: Array


@dataclass(frozen=True)
class _Ended:
    """A request whose world is done with it."""

    opened: _Open
    ends: Ends | None = None
    """What it ended with, together with others; None where contacts were lost."""
    index: int = 0
    """Which of them it is."""
    poses: Array = field(default_factory=lambda: np.zeros((0, 7)))
    """Where the slots' parts lie: position [m] and quaternion wxyz, shape [slots, 7]."""


class WarpSettler:
    """Settles scenes of one cell in many worlds; a world whose scene is done takes the next one.

    It means the same as `Settler`: the same model, phases and limits. Numbers are single, nothing sleeps, and the order
    of contacts is the device's, so that a pile may come to rest a little elsewhere. Where more contacts arise than the
    buffers hold, `Settler` itself answers.

    Example:
        >>> settler = WarpSettler(cell, parts, device="cuda:0", worlds=1024)  # doctest: +SKIP
        >>> settler.settle(layout, matter).speed_m_s  # doctest: +SKIP
        0.0004
    """

    def __init__(
        self, cell: Cell, parts: Catalogue, *, device: str, worlds: int, settler: Settler | None = None
    ) -> None:
        """Build the worlds.

        Args:
            cell: The cell.
            parts: Its parts.
            device: `cuda:0` and the like, or `cpu`, as Warp names it.
            worlds: Number of worlds.
            settler: Answers where contacts were lost; one is built without it.

        Raises:
            InvalidOption: There is no such device.
        """
        known = [found.alias for found in wp.get_devices()]
        if device not in known:
            raise InvalidOption("--device", device, f"one that Warp finds here: {', '.join(known)}")
        self._settler = settler or Settler(cell, parts)
        self._rows = SettleRows(cell, parts)
        self._worlds = SettleWorlds(self._rows, count=worlds, device=device)
        self._turns = SettleTurns(worlds, timestep_s=cell.physics.timestep_s)
        self._waiting: deque[tuple[int, SettleRequest]] = deque()
        self._packed: deque[_Open] = deque()
        self._open: dict[int, _Open] = {}
        self._answers: list[tuple[int, SettleAnswer]] = []
        self._ended: list[_Ended] = []
        self._device = device
        self.settled = 0
        """Scenes that were settled."""
        self.steps = 0
        """Physics steps that all worlds took together, busy or not."""
        self.overflowed = 0
        """Those of them in which contacts were lost, so that `Settler` settled them instead."""

    @property
    def engine(self) -> str:
        """The simulators and their versions."""
        return warp_engine(self._device)

    def settle(self, layout: Layout, matter: Matter, *, limit_s: float = 2.0, nudge: bool = True) -> Settled:
        """Settle one scene; see `Settler.settle`."""
        self.submit(ALONE, SettleRequest(layout, matter, limit_s, nudge))
        others: list[tuple[int, SettleAnswer]] = []
        while True:
            answers = dict(self.advance())
            mine = answers.pop(ALONE, None)
            others += answers.items()
            if mine is not None:
                break
        self._answers += others
        if isinstance(mine, SceneGenError):
            raise mine
        return mine

    def submit(self, ticket: int, request: SettleRequest) -> None:
        """Take a request; see `SettlesMany.submit`."""
        self._waiting.append((ticket, request))

    def advance(self) -> list[tuple[int, SettleAnswer]]:
        """Simulate a few steps of all worlds; see `SettlesMany.advance`."""
        self._pack(len(self._turns.empty))
        self._fill()
        if self._open:
            self._worlds.step()
            self.steps += STEPS_AT_ONCE * self._worlds.count
        # While a GPU steps, the processor writes the next scenes and the last answers.
        self._pack(self._worlds.count)
        answers, self._answers = self._answers, []
        answers += self._answers_of(self._ended)
        self._ended = []
        if self._open:
            self._decide()
        return answers

    def forget(self) -> None:
        """Drop all requests that are open; see `SettlesMany.forget`."""
        for some in (self._waiting, self._packed, self._open, self._answers, self._ended):
            some.clear()
        self._turns.drop(np.arange(self._worlds.count))

    def _pack(self, most: int) -> None:
        """Write scenes that wait as rows, until so many are ready."""
        while self._waiting and len(self._packed) < most:
            ticket, request = self._waiting.popleft()
            try:
                self._packed.append(_Open(ticket, request, self._rows.of(request.layout, request.matter)))
            except SceneGenError as error:
                self._answers.append((ticket, error))

    def _fill(self) -> None:
        """Give empty worlds the scenes that are ready."""
        worlds = self._turns.empty[: len(self._packed)]
        if not len(worlds):
            return
        taken = [self._packed.popleft() for _ in worlds]
        self._open |= dict(zip(worlds.tolist(), taken, strict=True))
        self._worlds.load(worlds, np.array([one.row for one in taken]))
        self._turns.begin(
            worlds,
            limit_s=np.array([one.request.limit_s for one in taken]),
            nudge=np.array([one.request.nudge for one in taken]),
        )

    def _decide(self) -> None:
        """Look at all worlds, and say what happens next in each."""
        lost = self._worlds.lost()
        actions, ends = self._turns.decide(self._worlds.facts())
        self._worlds.act(actions)
        poses = self._worlds.poses(ends.worlds, kept=ends.kept)
        for i, world in enumerate(ends.worlds.tolist()):
            if not lost[world]:
                self._ended.append(_Ended(self._open.pop(world), ends, i, poses[i]))
        for world in [world for world in self._open if lost[world]]:
            self._ended.append(_Ended(self._open.pop(world)))
        self._turns.drop(np.flatnonzero(lost))

    def _answers_of(self, ended: list[_Ended]) -> list[tuple[int, SettleAnswer]]:
        """Say how scenes came to rest."""
        self.settled += len(ended)
        rested = [one for one in ended if one.ends is not None and one.ends.finite[one.index]]
        answers: list[tuple[int, SettleAnswer]] = [
            (one.opened.ticket, self._unrested(one))
            for one in ended
            if one.ends is None or not one.ends.finite[one.index]
        ]
        settled = Settled.all_at(
            [one.opened.request.layout for one in rested],
            [self._places(one) for one in rested],
            *(
                [float(getattr(one.ends, name)[one.index]) for one in rested]
                for name in ("speed_m_s", "penetration_m", "seconds")
            ),
        )
        return answers + [(one.opened.ticket, answer) for one, answer in zip(rested, settled, strict=True)]

    def _unrested(self, ended: _Ended) -> Settled:
        """Answer for a scene that diverged, or that has to be settled anew since contacts were lost."""
        request = ended.opened.request
        if ended.ends is not None:
            return Settled.diverged(request.layout, float(ended.ends.seconds[ended.index]))
        self.overflowed += 1
        return self._settler.settle(request.layout, request.matter, limit_s=request.limit_s, nudge=request.nudge)

    def _places(self, ended: _Ended) -> Array:
        """Return where a scene's items rest, position [m] and quaternion xyzw, shape [items, 7]."""
        places = ended.poses[self._rows.slots_of(ended.opened.request.layout)][:, [0, 1, 2, 4, 5, 6, 3]]
        places[:, 3:] /= np.linalg.norm(places[:, 3:], axis=1, keepdims=True)
        return places
