"""Drawings of a run: retention by axis and level, intervals of shares, timelines of episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from evaluator.judging.episode import Episode
from evaluator.judging.estimate import Estimate
from evaluator.judging.event import MISHAPS, Event, EventKind
from evaluator.judging.retention import Retention
from evaluator.report import figures
from evaluator.report.drawing import Drawing
from evaluator.report.grids import words
from scenegen.cell import Role

LEVELS = 5
PANEL, PANEL_LEFT, PANEL_TOP, PANEL_BOTTOM = (220.0, 150.0), 40.0, 10.0, 24.0
"""Size of an axis' panel and its margins."""
BAR = (110.0, 12.0)
"""Size of the strip that shows a share with its interval."""
STRIP_WIDTH, STRIP_LEFT, LANE, STRIP_FOOT = 1000.0, 190.0, 20.0, 34.0
"""Measures of a timeline: a lane for the robot and one for each item."""
STRUCK = (EventKind.COLLISION, EventKind.BODY_HIT, EventKind.CARRIED_HIT)
STUCK = (EventKind.JAM, EventKind.STAGNATION, EventKind.INTERVENTION)
CARRY_ENDS = (EventKind.RELEASE, EventKind.SLIP)
TICKS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300)
MOST_TICKS = 12


def retention_panels(found: Sequence[Retention]) -> list[tuple[str, str]]:
    """Draw success by level, a panel an axis: axis and drawing."""
    by_axis = groupby(sorted(found, key=lambda one: (one.axis, one.level)), key=lambda one: one.axis)
    return [(axis.replace("+", " + "), _panel(axis, list(ones))) for axis, ones in by_axis]


def _panel(axis: str, levels: Sequence[Retention]) -> str:
    drawing = Drawing(*PANEL, label=f"success of {axis} by level against twins")
    width, bottom = PANEL[0] - PANEL_LEFT - 6, PANEL[1] - PANEL_BOTTOM

    def y(share: float) -> float:
        return bottom - share * (bottom - PANEL_TOP)

    def x(level: int) -> float:
        return PANEL_LEFT + width * (level - 0.5) / LEVELS

    for share in (0.0, 0.5, 1.0):
        drawing.line((PANEL_LEFT, y(share)), (PANEL[0] - 6, y(share)), "rule")
        drawing.text((PANEL_LEFT - 6, y(share) + 4), f"{share:.0%}", "tick end")
    for level in range(1, LEVELS + 1):
        drawing.text((x(level), PANEL[1] - 8), str(level), "tick middle")
    for one in levels:
        at = max(1, one.level)
        if one.twins.value is not None:
            drawing.line((x(at) - 13, y(one.twins.value)), (x(at) + 13, y(one.twins.value)), "twin")
        if one.scenes.value is None or one.scenes.low is None or one.scenes.high is None:
            continue
        lost = one.difference.high is not None and one.difference.high < 0
        title = (
            f"{axis} level {one.level}: {figures.both(one.scenes)} of {one.scenes.count}; "
            f"twins {figures.percent(one.twins.value)}; difference {figures.difference(one.difference)} points"
        )
        style = "lost" if lost else "kept"
        drawing.line((x(at), y(one.scenes.low)), (x(at), y(one.scenes.high)), f"span {style}")
        for end in (one.scenes.low, one.scenes.high):
            drawing.line((x(at) - 4, y(end)), (x(at) + 4, y(end)), f"span {style}")
        drawing.dot((x(at), y(one.scenes.value)), 4.5, f"point {style}", title=title)
    return drawing.markup()


def share_strip(estimate: Estimate, label: str) -> str:
    """Draw a share between none and all, with its interval; nothing where it is not known."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return ""
    drawing, middle = Drawing(*BAR, label=f"{label}: {figures.both(estimate)}"), BAR[1] / 2
    left, width = 3.0, BAR[0] - 6

    drawing.line((left, middle), (left + width, middle), "rule")
    low, high = left + width * estimate.low, left + width * estimate.high
    drawing.box((low, middle - 2.5), (high - low, 5.0), "interval")
    drawing.dot((left + width * estimate.value, middle), 3.5, "point kept", title=figures.both(estimate))
    return drawing.markup()


def timeline_strip(episode: Episode) -> str:
    """Draw an episode's events over its time: the robot's in the first lane, then a lane for each item."""
    duration = max(episode.duration_s, *(event.time_s for event in episode.events), 1e-3)
    items = [item for item in episode.items if _shown(item.name, item.role, episode.events)]
    height = LANE * (len(items) + 1) + STRIP_FOOT
    drawing = Drawing(STRIP_WIDTH, height, label=f"events of the episode of scene {episode.key.scenario_id}")
    foot = height - STRIP_FOOT + 4

    def x(time_s: float) -> float:
        return STRIP_LEFT + (STRIP_WIDTH - STRIP_LEFT - 30) * time_s / duration

    for time_s in _ticks(duration):
        drawing.line((x(time_s), 2), (x(time_s), foot), "rule")
        drawing.text((x(time_s), foot + 16), f"{time_s:g} s", "tick middle")
    drawing.text((STRIP_LEFT - 10, LANE / 2 + 4), "robot", "lane end")
    _robot_lane(drawing, episode.events, x)
    for lane, item in enumerate(items, 1):
        middle = lane * LANE + LANE / 2
        drawing.line((STRIP_LEFT, middle), (x(duration), middle), "lane-rule")
        style = "lane end" if item.role is Role.TARGET else "lane faint end"
        drawing.text((STRIP_LEFT - 10, middle + 4), item.name, style)
        for start, end in _carries(item.name, episode.events, duration):
            span = f"{item.name} carried from {start:.1f} to {end:.1f} s"
            drawing.box((x(start), middle - 4), (x(end) - x(start), 8), "carry", title=span)
        for event in episode.events:
            if item.name in event.items and (event.kind in MISHAPS or event.kind is EventKind.PLACED):
                _mark(drawing, (x(event.time_s), middle), event)
    if episode.began_s is not None:
        drawing.line((x(episode.began_s), 0), (x(episode.began_s), foot), "began")
    drawing.line((x(duration), 2), (x(duration), foot), "ended")
    return drawing.markup()


def _robot_lane(drawing: Drawing, events: Iterable[Event], x: Callable[[float], float]) -> None:
    """Draw what the robot ran into, and how long it stood still; `x` is where a time lies."""
    for event in events:
        if event.kind is EventKind.STAGNATION and event.value is not None:
            end_s = event.time_s + event.value
            pause = f"stands still from {event.time_s:.1f} to {end_s:.1f} s"
            drawing.box((x(event.time_s), LANE / 2 - 4), (x(end_s) - x(event.time_s), 8), "still", title=pause)
        if event.kind in STRUCK or event.kind in STUCK:
            _mark(drawing, (x(event.time_s), LANE / 2), event)


def _shown(name: str, role: Role, events: Iterable[Event]) -> bool:
    return role is Role.TARGET or any(name in event.items and event.kind in MISHAPS for event in events)


def _ticks(duration: float) -> list[float]:
    step = next((one for one in TICKS_S if duration / one <= MOST_TICKS), TICKS_S[-1])
    return [index * float(step) for index in range(int(duration / step) + 1)]


def _carries(name: str, events: Iterable[Event], duration: float) -> Iterator[tuple[float, float]]:
    start: float | None = None
    for event in events:
        if name not in event.items:
            continue
        if event.kind is EventKind.LIFT and start is None:
            start = event.time_s
        elif event.kind in CARRY_ENDS and start is not None:
            yield start, event.time_s
            start = None
    if start is not None:
        yield start, duration


def _mark(drawing: Drawing, at: tuple[float, float], event: Event) -> None:
    x, y = at
    where = f" ({event.zone})" if event.zone else ""
    title = f"{words(event.kind)}{where}, {event.time_s:.1f} s"
    if event.kind is EventKind.PLACED:
        drawing.dot(at, 5, "placed", title=title)
    elif event.kind in STRUCK:
        drawing.shape([(x, y - 6), (x + 6, y + 5), (x - 6, y + 5)], "struck", title=title)
    elif event.kind in STUCK:
        drawing.box((x - 4.5, y - 4.5), (9, 9), "stuck", title=title)
    else:
        drawing.shape([(x, y - 6.5), (x + 6.5, y), (x, y + 6.5), (x - 6.5, y)], "mishap", title=title)
