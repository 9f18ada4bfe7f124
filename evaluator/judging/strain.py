"""What the robot did to the cell and to itself: collisions, jams, standing still."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluator.judging.carry import FLICKER_S
from evaluator.judging.event import Event, EventKind
from evaluator.judging.observed import Observed
from evaluator.judging.spans import Span, bridged, spans
from evaluator.judging.trace import Flags
from evaluator.judging.zone import Place
from scenegen.cell import Role
from scenegen.geometry import Array

TOUCH_N = 1.0
"""Contact force between robot and fixture that is a collision [N]: far above a simulator's noise, a light touch."""
STILL_RAD_S = 0.02
"""Joint speed below which the arm stands still [rad/s]: 1 cm/s at half a metre from the joint."""
PUSH_SHARE = 0.9
"""Share of its largest torque from which a joint pushes with all it has."""
JAM_S = 0.5
"""How long the robot must push without moving for it to be a jam [s]; a blow is over in a tenth of that."""
STAGNATION_S = 3.0
"""How long it must stand still to stagnate [s]: longer than any policy's inference that a line would accept."""


def strain_events(seen: Observed) -> Iterator[Event]:
    """Tell of collisions, jams and standing still, in no order; of nothing that the simulator did not measure."""
    trace = seen.trace
    if trace.fixture_force is not None:
        for hit in _held(seen, trace.fixture_force > TOUCH_N):
            peak = float(trace.fixture_force[hit.start : hit.end].max())
            yield Event(kind=EventKind.COLLISION, time_s=seen.time(hit.start), value=peak)
    if trace.body_touch is not None:
        for item, name in enumerate(seen.job.items):
            for hit in _held(seen, trace.body_touch[:, item]):
                yield Event(kind=EventKind.BODY_HIT, time_s=seen.time(hit.start), items=(name,))
    yield from _carried_hits(seen)
    quiet = np.abs(trace.joint_vel).max(axis=1, initial=0.0) <= STILL_RAD_S
    if (pushes := pushing(seen)) is not None:
        for jam in _lasting(seen, quiet & pushes, JAM_S):
            yield Event(kind=EventKind.JAM, time_s=seen.time(jam.start))
    for pause in _lasting(seen, quiet & _steady(seen) & _something_left(seen), STAGNATION_S):
        value = seen.time(pause.end) - seen.time(pause.start)
        yield Event(kind=EventKind.STAGNATION, time_s=seen.time(pause.start), value=value)


def pushing(seen: Observed) -> Flags | None:
    """Tell when the robot pushes harder than it may, shape [t]; None where neither force nor torque was measured."""
    force, torque = seen.trace.fixture_force, torque_shares(seen)
    if force is None and torque is None:
        return None
    hard = np.zeros(seen.trace.samples, bool)
    if force is not None:
        hard |= force > seen.job.cell.limits.contact_force_n
    if torque is not None:
        hard |= torque.max(axis=1, initial=0.0) >= PUSH_SHARE
    return hard


def torque_shares(seen: Observed) -> Array | None:
    """Torque of each joint as a share of the largest that it may give, shape [t, j]; None where it was not measured."""
    if seen.trace.joint_torque is None:
        return None
    return np.abs(seen.trace.joint_torque) / np.array([joint.torque_n_m for joint in seen.job.cell.robot.joints])


def _held(seen: Observed, flags: Flags) -> list[Span]:
    return spans(bridged(flags, seen.trace.time_s, gap_s=FLICKER_S))


def _lasting(seen: Observed, flags: Flags, least_s: float) -> list[Span]:
    """Return the runs that last at least so long [s]."""
    return [run for run in spans(flags) if seen.time(run.end) - seen.time(run.start) >= least_s * (1 - 1e-9)]


def _carried_hits(seen: Observed) -> Iterator[Event]:
    """Find carried items that touch a fixture which is neither where they came from nor where they belong."""
    trace = seen.trace
    if trace.item_fixture is None:
        return
    for carry in seen.carries:
        rest = seen.resting_at(carry.item, carry.start)
        expected = set(seen.job.wanted[carry.item])
        if rest is not None:
            expected.add(_fixture_of(seen.finder.names[rest.zone]))
        touched = trace.item_fixture[carry.start : carry.end, carry.item]
        for index, name in enumerate(trace.fixtures):
            rows = np.flatnonzero(touched == index)
            if name not in expected and rows.size:
                when, items = seen.time(carry.start + int(rows[0])), (seen.job.items[carry.item],)
                yield Event(kind=EventKind.CARRIED_HIT, time_s=when, items=items, zone=name)


def _fixture_of(zone: str) -> str:
    """Return the fixture that carries what lies in a zone."""
    return "table" if zone in (Place.ELSEWHERE, Place.RIM) else zone


def _steady(seen: Observed) -> Flags:
    """Tell when the gripper does not move, shape [t]."""
    steady = np.ones(seen.trace.samples, bool)
    for stroke in seen.moves:
        steady[stroke.start + 1 : stroke.end] = False
    return steady


def _something_left(seen: Observed) -> Flags:
    """Tell when a target has not come to rest in its bin, shape [t]."""
    targets = [role is Role.TARGET for role in seen.job.roles]
    return np.any(~seen.placed[:, targets], axis=1)
