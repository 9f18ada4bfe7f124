"""A judge is measured on clean scenes and on planted defects of meaning."""

import json

import pytest
from typer.testing import CliRunner

from scenegen.base import sample_base
from scenegen.cli import app
from scenegen.errors import BudgetSpent, InvalidOption
from scenegen.spoken import leak_in
from scenegen.streams import stream
from scenegen.vlm.chat import Finish, Reply
from scenegen.vlm.judging import SceneJudge
from validators.check import CheckContext
from validators.judge_test import judge_test, semantic_defects


class Judge:
    """Finds leaks in instructions and nothing else."""

    model = "scripted"

    def __init__(self, error=None):
        self.error = error

    def reply(self, chat):
        if self.error:
            raise self.error
        told = json.loads(chat.request.messages[1].text.split("The robot is told: ")[1].splitlines()[0])
        fields = {"plausible": True, "instruction_matches": leak_in(told) is None, "reason": ""}
        return Reply(text=json.dumps(fields), finish=Finish.STOP, model="m", input_tokens=1, output_tokens=1)

    def close(self):
        pass


@pytest.fixture(scope="module")
def measured(cell, catalogue):
    scenes = [sample_base(cell, catalogue, rng=stream("judge", index)) for index in range(3)]
    judge = SceneJudge(cell, catalogue)

    def measured(back_end):
        return judge_test(
            CheckContext.of(cell, catalogue),
            scenes,
            asks=lambda scene: judge.chat(scene, None),
            back_end=back_end,
            rng=stream("judge"),
        )

    return measured


def test_each_defect_of_meaning_is_judged_beside_clean_scenes(measured):
    report = measured(Judge())
    rows = {row.scenes: row for row in report.rows}
    assert list(rows) == ["clean", *(defect.name for defect in semantic_defects())]
    assert {"leak", "instruction_contradicts", "bin_overfull", "false_cause"} <= rows.keys()
    assert (rows["clean"].rejected.hits, rows["clean"].rejected.trials) == (0, 3)
    assert rows["leak"].rejected.hits == 3
    assert rows["bin_colours_swapped"].rejected.hits == 0
    assert report.table().splitlines()[2].split()[:3] == ["clean", "0/3", "="]


def test_a_budget_stops_it(measured):
    spent = BudgetSpent("9 tokens", "9 tokens", "--budget-tokens")
    with pytest.raises(
        BudgetSpent, match="the budget is spent: 9 tokens of 9 tokens - allow more with --budget-tokens"
    ):
        measured(Judge(spent))


def test_the_command_measures_a_model(tiny_llama):
    done = CliRunner().invoke(app, ["check", "--self-test", "--n", "1", "--vlm", f"local:{tiny_llama}", "--text-only"])
    assert done.exit_code == 0, done.output
    assert f"the judge local:{tiny_llama}\n" in done.output
    assert "clean scenes rejected by any check: 0/1 = 0.000" in done.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("fasteners", "--vlm", "local:x"), "--vlm local:x - accepted: it only with --self-test, which "),
        (
            ("--self-test", "--text-only"),
            "--text-only True - accepted: it only with --vlm, which names the model to ask",
        ),
        (
            ("--self-test", "--vlm", "lokal:x"),
            "--vlm lokal:x - accepted: openai:MODEL[@URL], local:PATH, replay:FILE - ",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments, sentence):
    done = CliRunner().invoke(app, ["check", *arguments])
    assert isinstance(done.exception, InvalidOption)
    assert str(done.exception).startswith(sentence)
