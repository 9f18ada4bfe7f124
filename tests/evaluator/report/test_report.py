"""`scenegen report`: pages of runs of every kind are whole, say what the scorecard says, and need nothing else."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

from evaluator.judging.attribution import Attribution, Cause, Rule, count_causes
from evaluator.judging.category import FailureCategory
from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.estimate import Estimate
from evaluator.judging.event import Event, EventKind
from evaluator.judging.measures_timing import Latencies
from evaluator.judging.outcome import Outcome
from evaluator.judging.scorecard import score
from evaluator.judging.trace import EndReason
from evaluator.report import figures
from evaluator.report.case import EXAMPLES, WORST, Case
from evaluator.report.grids import causes_grid
from evaluator.report.page import page
from evaluator.report.plots import timeline_strip
from evaluator.report.remarks import remarks
from evaluator.report.run_report import Causes, run_report
from evaluator.rollout.kept import find_run, kept_runs
from scenegen.cli import app
from scenegen.errors import InvalidOption, LibraryError
from scenegen.streams import stream
from scenegen.units import Unit
from validators.intervals import Rate

VOID = {"meta", "link", "img", "br", "line", "circle", "rect", "polygon"}
"""Tags that stand alone."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page(HTMLParser):
    """Reads a page strictly: tags nest, names are given once, links lead somewhere, nothing is loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        facts = dict(attrs)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [facts["id"]] if "id" in facts else []
        self.links += [facts["href"]] if "href" in facts else []
        self.sources += [facts["src"]] if "src" in facts else []
        assert tag != "img" or facts["alt"]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def whole(text: str) -> Page:
    """Read a page and hold it against what every page must be."""
    read = Page(text)
    assert len(set(read.ids)) == len(read.ids)
    assert {link[1:] for link in read.links if link.startswith("#")} <= set(read.ids)
    assert all(link.startswith(("#", "data:")) for link in read.links)
    assert all(source.startswith("data:image/jpeg;base64,/9j/") for source in read.sources)
    assert re.findall(r"https?://(?!www\.w3\.org)|url\(|@import|<script", text) == []
    assert re.findall(r"\b(?:nan|inf|None|undefined)\b", read.text) == []
    return read


def scenegen(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, [*arguments])
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.stdout


def refusal(kind: type[Exception], *arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments])
    assert isinstance(done.exception, kind), done.output
    return str(done.exception)


def reported(ground, run, episodes):
    ground.keep(run, episodes)
    kept = find_run(kept_runs(ground.store, ground.snapshot), run.content_id, library="lib")
    return run_report(ground.store, ground.snapshot, kept)


def lost_all(ground, run):
    return [Episode.lost(EpisodeKey(run_id=run.content_id, scenario_id=row.scenario_id, seed=0), "the machine stopped")
            for row in ground.rows]  # fmt: skip


@pytest.fixture
def runs(ground, always, by_level):
    """Kinds of runs by name, each from the run to its episodes."""
    bases = [row for row in ground.rows if not row.provenance.axes]
    return {
        "mixed": lambda run: ground.play_all(run, ground.rows, by_level),
        "all pass": lambda run: ground.play_all(run, ground.rows, always("good")),
        "all fail": lambda run: ground.play_all(run, ground.rows, always("left")),
        "single scene": lambda run: ground.play_all(run, ground.rows[:1], always("slip")),
        "bases alone": lambda run: ground.play_all(run, bases, always("good")),
        "no length": lambda run: [ground.instant(run, row) for row in ground.rows],
        "all lost": lambda run: lost_all(ground, run),
    }


@pytest.mark.parametrize(
    "kind", ["mixed", "all pass", "all fail", "single scene", "bases alone", "no length", "all lost"]
)
def test_runs_of_every_kind_give_a_whole_page_and_tables(ground, runs, kind, tmp_path):
    run = ground.run("vision")
    ground.keep(run, runs[kind](run))
    refused = kind == "all lost"
    said = scenegen(
        "report", "latest", "--library", str(ground.store.folder), "-o", str(tmp_path / "run.html"), code=int(refused)
    )
    assert said.startswith(f"run {run.content_id[:12]}: vision, ")
    assert said.splitlines()[-1] == f"wrote {tmp_path / 'run.html'}"
    read = whole((tmp_path / "run.html").read_text(encoding="utf-8"))
    assert ("This run shows nothing:" in read.text) is refused
    assert ("No scene of this run varies an axis" in read.text) is (kind == "bases alone")
    assert ("No episode failed." in read.text) is (kind in ("all pass", "bases alone"))
    facts = json.loads(scenegen("report", "latest", "--library", str(ground.store.folder), "--json", code=int(refused)))
    assert facts["run_id"] == run.content_id
    assert len(read.sources) == len(facts["worst"]) + sum(len(ones) for ones in facts["examples"].values())
    assert f"{facts['card']['episodes']} episodes in cell fasteners" in read.text


def test_a_report_says_what_the_scorecard_says(ground, by_level):
    run = ground.run("vision")
    found = reported(ground, run, episodes := ground.play_all(run, ground.rows, by_level))
    origins = {row.scenario_id: row.provenance for row in ground.rows}
    assert found.card == score(episodes, origins, found.cell.limits, rng=stream(0, "scorecard"))
    assert {one.axis for one in found.retention} == {"lighting", "pose"}
    assert [(one.axis, one.level) for one in found.axes] == [("lighting", 0), ("pose", 0)]
    for whole_axis in found.axes:
        levels = [one for one in found.retention if one.axis == whole_axis.axis]
        assert sum(one.lost for one in levels) == whole_axis.lost
    shares = [case.sorted_share for case in found.worst]
    assert shares == sorted(shares)
    assert len(found.worst) <= WORST
    assert {category: min(count, EXAMPLES) for category, count in found.card.categories.items()} == {
        category: len(cases) for category, cases in found.examples.items()
    }
    assert list(found.examples) == sorted(found.card.categories, key=lambda one: (-found.card.categories[one], one))


def test_what_stands_out_is_said_and_nothing_more(ground, always):
    varied = [row for row in ground.rows if row.provenance.axes]
    bases = [row for row in ground.rows if not row.provenance.axes]
    run = ground.run("openpi:ws://host:1")
    episodes = ground.play_all(run, bases, always("good")) + ground.play_all(run, varied, always("miss"))
    said = list(remarks(reported(ground, run, episodes)))
    # Tango's upper end for four losses of four: −(4 − z²) / (4 + z²) = −0.02.
    assert "Pose costs success: −100 [−100, −2] points against the twins on the same seeds." in said
    assert f"Most frequent failure: grasp miss, {len(varied)} of {len(varied)}." in said
    assert said[-1].startswith("Of the failures, 100% [")
    run = ground.run("noop")
    said = list(remarks(reported(ground, run, ground.play_all(run, ground.rows, always("good")))))
    few = ", which so few scenes (4 with a twin) hardly tell"
    assert said == [f"No axis is worse than its twins beyond what chance explains{few}."]


def test_a_robot_that_stood_still_is_shown_with_how_often_its_policy_was_asked():
    still = Event(kind=EventKind.STAGNATION, time_s=0.5, value=45.5)
    episode = Episode(
        key=EpisodeKey(run_id="tests", scenario_id="abc", seed=0), outcome=Outcome.FAILURE, end=EndReason.TIMEOUT,
        category=FailureCategory.STAGNATION, began_s=0.5, duration_s=46.0, events=(still,),
        latencies=Latencies.of([0.05] * 177),
    )  # fmt: skip
    told = Case(episode=episode, axis="lighting", level=5)
    assert told.still_text == "the robot stood still for 45.5 s; the policy answered 177 times in 46.0 s"
    unasked = told.replaced(episode=episode.replaced(latencies={}))
    assert unasked.still_text == "the robot stood still for 45.5 s"
    other = told.replaced(episode=episode.replaced(category=FailureCategory.DROP))
    assert other.still_text == ""
    drawn = timeline_strip(episode)
    assert "stands still from 0.5 to 46.0 s" in drawn
    assert drawn.count('class="still"') == 1


def test_causes_say_what_twins_showed():
    found = [Attribution(cause=Cause.PERCEPTION, rule=rule, perturbed=None) for rule in (Rule.IMAGE, Rule.TRUTH)] * 2
    unknown = Attribution(cause=Cause.UNKNOWN, rule=Rule.NO_TWIN, perturbed=None)
    causes = Causes(
        shares=count_causes([*found, unknown]), rules={Rule.IMAGE: 2, Rule.NO_TWIN: 1}, perturbed=Rate.of(0, 0)
    )
    grid = causes_grid(causes)
    assert grid.rows[0][:2] == ("perception", "4")
    assert grid.note == (
        "what twins of the failed scenes showed: 2 × sorted in nominal light; 1 × no twin with the truth was rolled out"
    )
    none = Causes(shares=count_causes([]), rules={}, perturbed=Rate.of(0, 0))
    assert causes_grid(none).note == ""


def test_numbers_are_shown_as_people_read_them():
    assert [figures.percent(one) for one in (None, 0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "?", "0%", "<1%", "50%", ">99%", "100%",
    ]  # fmt: skip
    assert [figures.points(one) for one in (None, 0.001, -0.002, -0.254, 0.1)] == ["?", "0", "0", "−25", "+10"]
    length = Estimate(value=-0.0042, low=-0.01, high=0.002, unit=Unit.METRE, count=3, groups=3)
    assert figures.both(length) == "−4.2 mm [−10, 2]"
    assert figures.both(length.replaced(unit=Unit.SECOND, value=2.5, low=None, high=None)) == "2.5 s"
    assert figures.both(length.replaced(unit=Unit.SECOND, value=0.0331, low=0.03, high=0.04)) == "33.1 ms [30, 40]"
    assert figures.both(length.replaced(unit=Unit.FACTOR, value=0.5, low=0.25, high=None)) == "0.5 [0.25, ∞]"
    assert figures.both(length.replaced(value=None, low=None, high=None)) == "?"


def test_texts_from_elsewhere_are_shown_and_not_obeyed(ground, always):
    run = ground.run("python:<script>alert(1)</script>:a&b")
    text = page(reported(ground, run, ground.play_all(run, ground.rows[:2], always("miss"))), {})
    assert "python:<script>alert(1)</script>:a&b" in whole(text).text


def test_pages_of_one_library_are_the_same_bytes(ground, by_level):
    run = ground.run("vision")
    found = reported(ground, run, ground.play_all(run, ground.rows, by_level))
    again = reported(ground, run, [])
    assert page(found, {}) == page(again, {})


def test_runs_are_listed_with_what_came_of_them(ground, always, tmp_path):
    library = str(ground.store.folder)
    assert scenegen("report", "--library", library) == (
        "no runs yet: roll a policy out with `scenegen evaluate --policy …`\n"
    )
    for policy, how in (("noop", "left"), ("oracle", "good")):
        run = ground.run(policy)
        ground.keep(run, ground.play_all(run, ground.rows[:3], always(how)))
    listed = [json.loads(line) for line in scenegen("report", "--library", library, "--json").splitlines()]
    assert [(one["conditions"]["policy"], one["outcomes"]) for one in listed] == [
        ("noop", {"failure": 3}),
        ("oracle", {"success": 3}),
    ]
    assert [one["ended"] for one in listed] == sorted(one["ended"] for one in listed)
    shown = scenegen("report", "--library", library)
    assert shown.index("oracle") < shown.index("noop")
    facts = json.loads(scenegen("report", "latest", "--library", library, "--json", "--against", listed[0]["run"]))
    assert facts["run"]["policy"] == "oracle"
    assert (facts["against"]["whole"]["gained"], facts["against"]["flips"]["hits"]) == (3, 3)
    assert facts["against"]["differing"] == {}


def test_what_is_no_run_is_said_in_a_sentence(ground, always):
    library = str(ground.store.folder)
    assert refusal(LibraryError, "report", "latest", "--library", library) == (
        f"{library}: it holds no runs yet - roll a policy out with `scenegen evaluate --policy …`"
    )
    runs = [ground.run(policy) for policy in ("noop", "oracle")]
    for run in runs:
        ground.keep(run, ground.play_all(run, ground.rows[:1], always("good")))
    way_out = "list runs with `scenegen report`; `latest` names the newest"
    assert refusal(LibraryError, "report", "xyz", "--library", library) == f"{library}: no run 'xyz' - {way_out}"
    with pytest.raises(LibraryError, match="2 runs have an id that starts with '' - list runs"):
        find_run(kept_runs(ground.store, ground.snapshot), "", library="lib")
    assert refusal(InvalidOption, "report", "latest", "--library", library, "-o", "run.pdf") == (
        "--output run.pdf - accepted: a file that ends in .html or .htm"
    )
    assert refusal(InvalidOption, "report", "latest", "--library", library, "--against", "latest") == (
        "--against latest - accepted: another run than the one that is reported"
    )


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_a_browser_shows_the_page_without_scrolling_sideways(ground, by_level, tmp_path):
    run = ground.run("vision")
    ground.keep(run, ground.play_all(run, ground.rows, by_level))
    target = tmp_path / "run.html"
    scenegen("report", "latest", "--library", str(ground.store.folder), "-o", str(target))
    probe = (
        "<script>document.title = [document.documentElement.scrollWidth <= innerWidth, innerWidth,"
        " [...document.images].every(one => one.complete && one.naturalWidth > 0), document.images.length]"
        "</script></body>"
    )
    target.write_text(target.read_text(encoding="utf-8").replace("</body>", probe), encoding="utf-8")
    for width in (1280, 800, 500):
        done = subprocess.run(
            [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900",
             f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", target.as_uri()],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        title = re.search(r"<title>(.*?)</title>", done.stdout)
        assert title is not None
        fits, inner, loaded, images = title[1].split(",")
        assert (fits, int(inner), loaded) == ("true", width, "true")
        assert int(images) > 3
