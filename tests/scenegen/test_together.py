"""An expansion whose checks run side by side gives the scenes and verdicts that it gives one after the other."""

from collections import deque
from dataclasses import replace
from functools import partial

import pytest

from scenegen.commands.device import settle_engine, warp_device
from scenegen.commands.recipe import Recipe, Workshop, check_plan
from scenegen.commands.together import Together
from scenegen.errors import InvalidOption
from scenegen.expand import Expander, Expansion
from scenegen.side_by_side import SideBySide
from validators.run import Checker

MOST = 4


class Later:
    """MuJoCo, but answers come in another order than requests: the last two of those that wait."""

    def __init__(self, settler):
        self.settler, self.waiting, self.most, self.engine = settler, {}, 0, "later 1"

    def submit(self, ticket, request):
        self.waiting[ticket] = request
        self.most = max(self.most, len(self.waiting))

    def advance(self):
        ready = list(self.waiting)[-2:]
        return [(ticket, self.answer(self.waiting.pop(ticket))) for ticket in ready]

    def answer(self, request):
        return self.settler.settle(request.layout, request.matter, limit_s=request.limit_s, nudge=request.nudge)

    def settle(self, layout, matter, *, limit_s=2.0, nudge=True):
        return self.settler.settle(layout, matter, limit_s=limit_s, nudge=nudge)

    def forget(self):
        self.waiting.clear()


@pytest.fixture(scope="module")
def workshop(cell, catalogue):
    return Workshop.of(cell, catalogue)


@pytest.fixture
def expansion(cell, catalogue):
    assets = {part: catalogue[part].content_id for part in sorted(catalogue)}
    return Expansion(cell_id=cell.content_id, assets=assets, axes=("stacking", "lighting"), levels=(1,))


def outcomes(workshop, expansion, many=None):
    """Outcomes of the first indices, and the plan of their verdicts."""
    judge = SideBySide(many, at_once=MOST) if many else None
    context = replace(workshop.context, judge=judge)
    checker = Checker(context, workshop.checker.checks)
    own = Workshop(workshop.cell, workshop.parts, context, checker, workshop.writer, Together("cpu", judge, many))
    expander = Expander(expansion, own.session(expansion), remembers=MOST)
    deque(own.together.run(partial(expander.prepare, base) for base in range(MOST)), maxlen=0)
    return list(own.together.run(partial(expander.make, index) for index in range(MOST))), checker.plan


def said(made):
    """What is kept of a scene; whether a result was measured or known already depends on what was checked before."""
    results = [(one.check, one.status, one.findings) for one in made.verdict.results]
    return made.scenario, made.provenance, made.kind, results


def test_side_by_side_gives_what_one_after_the_other_gives(workshop, expansion):
    many = Later(workshop.context.settler)
    alone, plan = outcomes(workshop, expansion)
    together, plan_together = outcomes(workshop, expansion, many)
    assert [one.index for one in together] == list(range(MOST))
    assert [said(one.made) for one in together] == [said(one.made) for one in alone]
    assert [said(one.base) for one in together] == [said(one.base) for one in alone]
    assert [one.rejected for one in together] == [one.rejected for one in alone]
    assert many.most > 1
    assert plan_together.engine == "later 1"
    assert plan.engine.startswith("mujoco 3.")


def test_a_base_that_is_prepared_is_the_one_that_is_used(workshop, expansion):
    expander = Expander(expansion, workshop.session(expansion))
    expander.prepare(expander.base_of(4))
    assert list(expander._bases) == [expander.base_of(4)]


@pytest.mark.parametrize("device", ["gpu", "cuda", "cuda:x", "warp", ""])
def test_unknown_devices_are_refused(device):
    with pytest.raises(InvalidOption, match=f"--device {device} - accepted: cpu, cpu:warp, or cuda:0 and the like"):
        settle_engine(device)


def test_the_plan_says_where_scenes_were_settled(cell, catalogue):
    pytest.importorskip("mujoco_warp")
    plans = {device: check_plan(cell, catalogue, device=device) for device in ("cpu", "cpu:warp", "cuda:0", "cuda:1")}
    assert plans["cuda:0"] == plans["cuda:1"]
    assert len({plan.content_id for plan in plans.values()}) == 3
    assert " on cuda, mujoco 3." in plans["cuda:0"].engine
    assert warp_device("cpu") is None


def test_chunks_are_larger_where_scenes_settle_together(cell, catalogue, expansion):
    recipe = Recipe("scenarios", cell, catalogue, expansion)
    assert replace(recipe, device="cuda:0").chunk > recipe.chunk
