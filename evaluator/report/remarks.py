"""What stands out of a run, in sentences: what it shows at all, where it loses most, why it fails."""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.judging.attribution import Cause, Rule
from evaluator.judging.retention import LEAST_PAIRS
from evaluator.report import figures
from evaluator.report.grids import words
from evaluator.report.run_report import RunReport

LOSSES = 3
"""Most losses that are named."""


def remarks(report: RunReport) -> Iterator[str]:
    """Yield what stands out, most important first; nothing that its interval does not bear out."""
    card = report.card
    lost = [one for one in report.axes if one.difference.high is not None and one.difference.high < 0]
    for one in sorted(lost, key=lambda one: (one.difference.value or 0.0, one.axis))[:LOSSES]:
        yield (
            f"{one.axis.replace('+', ' + ').replace('_', ' ').capitalize()} costs success: "
            f"{figures.difference(one.difference)} points against the twins on the same seeds."
        )
    if report.axes and not lost:
        most = max(one.both + one.lost + one.gained + one.neither for one in report.axes)
        few = f", which so few scenes ({most} with a twin) hardly tell" if most < LEAST_PAIRS else ""
        yield f"No axis is worse than its twins beyond what chance explains{few}."
    if card.categories:
        category, count = max(card.categories.items(), key=lambda one: (one[1], one[0]))
        yield f"Most frequent failure: {words(category)}, {count} of {sum(card.categories.values())}."
    if card.reasons:
        most = card.reasons[0]
        yield f"{most.episodes} of {card.episodes} episodes ended as {words(most.outcome)}: {most.text}."
    yield from _causes(report)
    if report.flips is not None:
        yield f"Repeats of one scene come out differently in {figures.both(report.flips)} of the cases."
    if card.success.missing:
        yield f"{card.success.missing} of {card.episodes} episodes are missing; intervals hold whichever way they went."
    if card.conflicts:
        yield f"Attempts at {card.conflicts} rollouts disagree; the first one counts."


def _causes(report: RunReport) -> Iterator[str]:
    found = {cause: share for cause, share in report.causes.shares.items() if cause is not Cause.UNKNOWN and share.hits}
    if found:
        cause, share = max(found.items(), key=lambda one: (one[1].hits, one[0]))
        yield f"Most failures with a known cause come from {cause.value}: {figures.rate(share)} of all failures."
    if untold := report.causes.rules.get(Rule.NO_TWIN):
        remedy = "run the same evaluation with --explain" if report.explainable else "this policy cannot be given it"
        yield f"The cause of {untold} failures is unknown: no twin with the truth was rolled out ({remedy})."
    if report.causes.perturbed.trials:
        yield f"Of the failures, {figures.rate(report.causes.perturbed)} succeed where the scene is unperturbed."
