"""The tables of a run: success by level, retention, missorts, failures, causes, measures, worst scenes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from evaluator.judging.attribution import Cause, Rule
from evaluator.judging.category import FailureCategory
from evaluator.judging.confusion import Confusion
from evaluator.judging.estimate import Estimate
from evaluator.judging.measure_table import MEASURES
from evaluator.judging.outcome import Outcome
from evaluator.judging.retention import Retention
from evaluator.judging.scorecard import JUDGED, Scorecard
from evaluator.report import figures
from evaluator.report.against import Against
from evaluator.report.case import Case
from evaluator.report.grid import Grid
from evaluator.report.run_report import Causes
from evaluator.rollout.kept import KeptRun
from validators.intervals import Rate

UNTOLD = "–"
LEAST_P = 1e-4
"""Smaller p values are told as smaller than this."""
SHORT = 12
"""Digits of an id that are shown."""
REASONS = 8
"""Reasons that are told one by one."""
FIRST_CONSTRAINT = "within_joint_limits"
"""The first measure that is a constraint; those before it tell what was achieved."""
CALLS = {
    "latency": "mean time of a call of the policy",
    "latency_p99": "time within which 99 of 100 calls were answered",
    "latency_max": "longest call",
    "latency_jitter": "standard deviation of the calls",
}
_NAMES = [measure.name for measure in MEASURES]
DIMENSIONS = {
    "task": tuple(_NAMES[: _NAMES.index(FIRST_CONSTRAINT)]),
    "constraints": tuple(_NAMES[_NAMES.index(FIRST_CONSTRAINT) :]),
    "engineering": tuple(CALLS),
}
"""Measures by the dimension that they belong to."""
DOCS = {measure.name: measure.doc for measure in MEASURES} | CALLS
RULES = {
    Rule.IMAGE: "sorted in nominal light",
    Rule.TRUTH: "sorted with the truth in place of pictures",
    Rule.SAME_FAILURE: "fails in the same way with the truth in place of pictures",
    Rule.OTHER_FAILURE: "fails in another way with the truth in place of pictures",
    Rule.NO_TWIN: "no twin with the truth was rolled out",
}
"""What a failed scene's twins show."""


def score_grids(card: Scorecard) -> list[Grid]:
    """Return the tables of a scorecard, as `evaluate` prints them."""
    return [
        levels_grid(card),
        reasons_grid(card),
        *(grid for name in DIMENSIONS if (grid := measures_grid(card, name)).rows),
    ]


def levels_grid(card: Scorecard) -> Grid:
    """Return success and failures by axis and level."""
    rows = tuple(
        (
            _axis(one.axis),
            str(one.level),
            str(one.success.rate.count + one.success.missing),
            figures.success(one.success),
            ", ".join(f"{words(name)} {count}" for name, count in (*_by_count(one.categories), *one.others.items())),
        )
        for one in card.levels
    )
    columns = ("axis", "level", "episodes", "success", "failures")
    return Grid("success by axis and level", columns, rows, numbers=frozenset({1, 2}))


def measures_grid(card: Scorecard, dimension: str) -> Grid:
    """Return the measures of one dimension that are known."""
    found = [(name, estimate) for name in DIMENSIONS[dimension] if (estimate := card.measures[name]).value is not None]
    rows = [(words(name), figures.value(one), figures.interval(one), _counted(one), DOCS[name]) for name, one in found]
    rows += [*_machine(card)] if dimension == "engineering" else []
    columns = ("measure", "value", "95 % interval", "of", "meaning")
    return Grid(f"measures: {dimension}", columns, tuple(rows), numbers=frozenset({1, 2, 3}))


def retention_grid(found: Sequence[Retention], *, scenes: str = "scenes", twins: str = "twins") -> Grid:
    """Return success against twins by axis and level."""
    rows = tuple(
        (
            _axis(one.axis),
            str(one.level) if one.level or not one.axis else "all",
            str(one.scenes.count),
            str(one.missing),
            figures.percent(one.twins.value),
            figures.percent(one.scenes.value),
            figures.difference(one.difference),
            figures.both(one.ratio) if one.ratio else f"untold: {(one.no_ratio or '').partition(' - ')[0]}",
            _p_value(one.p_value),
        )
        for one in found
    )
    columns = ("axis", "level", "pairs", "missing", twins, scenes, "difference, points", "retained", "p")
    note = f"p: McNemar's exact test; {UNTOLD} where pairs share a base and are not independent"
    return Grid(f"{scenes} against {twins}", columns, rows, numbers=frozenset({1, 2, 3, 4, 5, 8}), note=note)


def confusion_columns(confusion: Confusion, bins: Iterable[str]) -> tuple[str, ...]:
    """Return the bins, and of the other places those in which something ended."""
    known = tuple(bins)
    used = {place for row in confusion.rows.values() for place, count in row.items() if count}
    return tuple(place for place in confusion.places(known) if place in known or place in used)


def confusion_grid(confusion: Confusion, bins: Iterable[str]) -> Grid:
    """Return what ended where; bins in which a part belongs are marked."""
    places = confusion_columns(confusion, bins)
    rows = tuple(
        (part, *(_cell(confusion.count(part, place), place in confusion.wanted[part]) for place in places))
        for part in confusion.rows
    )
    note = "rows are parts, columns where they ended; * marks the bin in which a part belongs"
    numbers = frozenset(range(1, len(places) + 1))
    return Grid("what ended where", ("part", *places), rows, numbers=numbers, note=note)


def failures_grid(card: Scorecard) -> Grid:
    """Return failures by category with their share of all episodes that count."""
    number = card.success.rate.count
    rows = tuple(
        (words(name), str(count), figures.rate(Rate.of(count, number))) for name, count in _by_count(card.categories)
    )
    others = tuple(
        (words(outcome), str(count), figures.rate(Rate.of(count, card.episodes)))
        for outcome, count in card.outcomes.items()
        if outcome not in JUDGED
    )
    return Grid("failures", ("failure", "episodes", "share"), rows + others, numbers=frozenset({1}))


def reasons_grid(card: Scorecard) -> Grid:
    """Return why episodes are neither success nor failure."""
    rows = [(words(one.outcome), str(one.episodes), one.text) for one in card.reasons[:REASONS]]
    if rest := card.reasons[REASONS:]:
        rows.append(("others", str(sum(one.episodes for one in rest)), f"{len(rest)} more reasons"))
    return Grid("neither success nor failure", ("outcome", "episodes", "reason"), tuple(rows), numbers=frozenset({1}))


def causes_grid(causes: Causes) -> Grid:
    """Return what failures come from."""
    rows = tuple(
        (cause.value, str(share.hits), figures.rate(share))
        for cause, share in causes.shares.items()
        if share.hits or cause is not Cause.UNKNOWN
    )
    told = "; ".join(f"{count} × {RULES[rule]}" for rule, count in causes.rules.items())
    told = f"what twins of the failed scenes showed: {told}" if told else ""
    return Grid("causes of failures", ("cause", "failures", "share"), rows, numbers=frozenset({1}), note=told)


def worst_grid(cases: Sequence[Case]) -> Grid:
    """Return the worst scenes."""
    rows = tuple(
        (
            case.scenario_id[:SHORT],
            case.setting,
            case.sorted_text,
            case.verdict,
            case.cause_text or case.episode.reason or "",
        )
        for case in cases
    )
    note = "`scenegen show SCENE` tells what is in one"
    return Grid("worst scenes", ("scene", "made by", "sorted", "failure", "cause"), rows, note=note)


def against_grids(found: Against) -> list[Grid]:
    """Return how a run stands against another one."""
    other = found.run_id[:SHORT]
    whole = retention_grid([found.whole, *found.levels], scenes="this run", twins=other)
    rows = (("together", "", *whole.rows[0][2:]), *whole.rows[1:])
    grids = [Grid(f"against {found.run.policy} ({other})", whole.columns, rows, whole.numbers, whole.note)]
    if found.differing:
        columns = ("condition", "this run", other)
        rows = tuple((name, *ones) for name, ones in found.differing.items())
        note = "what differs besides the policy may be what makes the difference"
        grids.append(Grid("conditions that differ", columns, rows, note=note))
    return grids


def runs_grid(runs: Sequence[KeptRun]) -> Grid:
    """Return the runs of a library, newest first."""
    rows = tuple(
        (
            one.id[:SHORT],
            one.run.policy,
            one.run.version[:SHORT],
            one.run.device,
            str(one.episodes),
            f"{one.outcomes[Outcome.SUCCESS]} of {one.episodes}",
            one.commits[-1].time[:16].replace("T", " ") if one.commits else figures.UNKNOWN,
        )
        for one in reversed(runs)
    )
    columns = ("run", "policy", "version", "device", "episodes", "success", "last, UTC")
    return Grid("runs", columns, rows, numbers=frozenset({4}))


def words(name: str) -> str:
    """Return a name as words."""
    return str(name).replace("_", " ")


def _p_value(value: float | None) -> str:
    if value is None:
        return UNTOLD
    return f"{value:.2g}" if value >= LEAST_P else f"<{LEAST_P:.4f}"


def _axis(axis: str) -> str:
    return axis.replace("+", " + ") or "base"


def _by_count(counts: Mapping[FailureCategory, int]) -> list[tuple[FailureCategory, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _cell(count: int, wanted: bool) -> str:
    return f"{count or ''}{'*' if wanted else ''}"


def _counted(estimate: Estimate) -> str:
    return str(estimate.count) + (f", {estimate.unknown} untold" if estimate.unknown else "")


def _machine(card: Scorecard) -> Iterator[tuple[str, str, str, str, str]]:
    use = card.machine
    known = {
        "memory of the host": (_gibibytes(use.host_peak_bytes), "most that the process held"),
        "memory of the device": (_gibibytes(use.device_peak_bytes), "most that torch and Warp took"),
        "processors": (_number(use.processors), "kept busy by the process on average"),
        "utilisation": (_share(use.utilisation), "mean share of the time that the device computed"),
        "utilisation, low": (_share(use.utilisation_low), "tenth percentile of that"),
        "worlds": (_number(use.worlds), "simulated side by side"),
        "opening": (_number(use.opening_s, " s"), "time until the worlds were there"),
        "wall time": (_number(use.wall_s, " s"), "time for which they ran"),
        "physics steps": (_number(use.physics_steps_per_s, "/s"), "of all worlds together, by wall time"),
        "real-time factor": (_number(use.real_time_factor), "simulated time of the worlds that played by wall time"),
    }
    for name, (text, doc) in known.items():
        if text is not None:
            yield name, text, "", "", doc
    for one in use.batches:
        calls = one.calls
        found = (calls.quantile_s(0.5), calls.p99_s, calls.max_s)
        median, p99, longest = (_number(1e3 * (seconds or 0.0)) for seconds in found)
        doc = "a call of the policy for so many worlds at once: median, p99, longest"
        yield f"batches of {one.sizes}", f"{median} / {p99} / {longest} ms", "", str(calls.count), doc


def _number(value: float | None, unit: str = "") -> str | None:
    if value is None:
        return None
    return f"{value:,.0f}{unit}" if abs(value) >= 1000 else f"{value:.3g}{unit}"


def _share(value: float | None) -> str | None:
    return None if value is None else figures.percent(value)


def _gibibytes(count: int | None) -> str | None:
    return None if count is None else f"{count / 2**30:.2f} GiB"
