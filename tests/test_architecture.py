"""The house: imports go down only, heavy packages stay where they belong, files stay small."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("scenegen", "validators", "library", "evaluator", "prompts")

LAYERS: dict[str, tuple[str, ...]] = {
    "kernel": (
        "scenegen.errors", "scenegen.record", "scenegen.units", "scenegen.geometry", "scenegen.cell",
        "scenegen.facet", "scenegen.optical", "scenegen.scenario", "scenegen.provenance", "scenegen.relations",
        "scenegen.verdict", "scenegen.episode",
    ),
    "making": (
        "scenegen.parts", "scenegen.axes", "scenegen.usd", "scenegen.imaging", "scenegen.vlm", "scenegen.physics",
        "scenegen.cells", "scenegen.robot", "scenegen.nominal", "scenegen.place", "scenegen.footprint",
        "scenegen.board", "scenegen.posed", "scenegen.design", "scenegen.base", "scenegen.wording", "scenegen.spoken",
        "scenegen.streams", "scenegen.handed", "scenegen.pool", "scenegen.side_by_side", "scenegen.expand",
        "scenegen.doctor", "prompts",
    ),
    "checking": ("validators", "library"),
    "judging": ("evaluator",),
    "root": ("scenegen.cli", "scenegen.__main__", "scenegen.commands"),
}  # fmt: skip
"""Lowest first; a module may import its own layer and those before it. `scenegen` itself counts as kernel."""

HEAVY: dict[str, tuple[str, ...]] = {
    "pxr": ("scenegen.usd",),
    "usdex": ("scenegen.usd",),
    "mujoco": ("scenegen.physics",),
    "isaaclab": ("evaluator.isaac",),
    "isaaclab_newton": ("evaluator.isaac",),
    "newton": ("evaluator.isaac",),
    "warp": ("evaluator.isaac",),
    "mujoco_warp": ("evaluator.isaac",),
    "torch": ("evaluator.isaac", "evaluator.vision", "evaluator.policies.vision", "scenegen.vlm"),
    "outlines": ("scenegen.vlm",),
    "llguidance": ("scenegen.vlm",),
    "gguf": ("scenegen.vlm",),
    "tokenizers": ("scenegen.vlm",),
    "huggingface_hub": ("scenegen.vlm",),
    "httpx2": ("scenegen.vlm",),
    "httpcore2": ("scenegen.vlm",),
    "tenacity": ("scenegen.vlm",),
    "safetensors": ("evaluator.vision", "scenegen.vlm"),
    "openai": ("scenegen.vlm",),
    "transformers": ("scenegen.vlm",),
    "trimesh": ("scenegen.parts", "scenegen.imaging", "scenegen.place", "scenegen.footprint"),
    "shapely": ("scenegen.parts", "scenegen.imaging", "scenegen.place", "scenegen.footprint"),
    "manifold3d": ("scenegen.parts", "scenegen.imaging"),
    "coacd": ("scenegen.parts",),
    "embreex": ("scenegen.imaging", "scenegen.parts"),
    "mitsuba": ("scenegen.imaging.path_tracer",),
    "av": ("evaluator.rollout.video",),
    "msgpack": ("evaluator.policies",),
    "websockets": ("evaluator.policies",),
    "zmq": ("evaluator.policies",),
    "lance": ("library",),
    "pyarrow": ("library",),
    "duckdb": ("library",),
}
"""Who may import a heavy package, anywhere in its code."""

NOT_AT_START = (
    "av", "pxr", "torch", "mujoco", "openai", "transformers", "trimesh", "coacd", "isaaclab", "newton", "warp",
    "mujoco_warp", "lance", "duckdb", "mitsuba", "msgpack", "websockets", "zmq", "safetensors",
    "httpx2", "httpcore2", "outlines", "tenacity", "llguidance", "gguf", "tokenizers", "huggingface_hub",
)  # fmt: skip
"""What neither `import scenegen` nor `scenegen --help` may load."""

LAST_DEFENCE = ("scenegen.cli.main", "evaluator.policies.worker._run", "evaluator.policies.errand.run")
"""Who may catch everything: the command line, to give a crash its own exit code, the thread in which other people's
policies run, to report what they raise, and what is done for that thread, to raise it where it is waited for."""

MODULE_LINES = 350
FUNCTION_LINES = 50
FOLDER_DEPTH = 2

Sources = Mapping[str, ast.Module]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
SOURCES: Sources = {module_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def within(module: str, prefixes: tuple[str, ...]) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)


def layer(module: str) -> int | None:
    """Index of the module's layer; None where the table does not name it."""
    if module == "scenegen":
        return 0
    return next((i for i, prefixes in enumerate(LAYERS.values()) if within(module, prefixes)), None)


def imports(tree: ast.AST, known: Sources) -> Iterator[str]:
    """Dotted names that a piece of code imports; `from package import module` gives the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in known else node.module


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def without_layer(sources: Sources) -> list[str]:
    return [module for module in sources if layer(module) is None]


def upward_imports(sources: Sources) -> list[str]:
    return [
        f"{module} imports {name}"
        for module, tree in sources.items()
        for name in imports(tree, sources)
        if within(name, PACKAGES) and (layer(name) or 0) > (layer(module) or 0)
    ]


def import_cycles(sources: Sources) -> list[list[str]]:
    graph = nx.DiGraph(
        (module, name) for module, tree in sources.items() for name in imports(tree, sources) if name in sources
    )
    return [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]


def local_imports(sources: Sources) -> list[str]:
    return [
        f"{module}.{function.name} imports {name}"
        for module, tree in sources.items()
        for function in functions(tree)
        for name in imports(function, sources)
        if within(name, PACKAGES)
    ]


def misplaced_heavy_imports(sources: Sources) -> list[str]:
    return [
        f"{module} imports {name}"
        for module, tree in sources.items()
        for name in imports(tree, sources)
        if (top := name.split(".")[0]) in HEAVY and not within(module, HEAVY[top])
    ]


def broad_excepts(sources: Sources) -> list[str]:
    return [
        f"{module}.{function.name}"
        for module, tree in sources.items()
        for function in functions(tree)
        for node in ast.walk(function)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}))
        and f"{module}.{function.name}" not in LAST_DEFENCE
    ]


def loose_generators(sources: Sources) -> list[str]:
    """Functions whose `rng` may be left out, and public ones whose `rng` may be given by position."""
    found = []
    for module, tree in sources.items():
        for function in functions(tree):
            arguments = function.args
            positional = [*arguments.posonlyargs, *arguments.args]
            named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            loose = [argument for argument, default in named if default is not None]
            loose += positional[len(positional) - len(arguments.defaults) :]
            if not function.name.startswith("_"):
                loose += positional
            if "rng" in {argument.arg for argument in loose}:
                found.append(f"{module}.{function.name}")
    return found


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    last = function.body[-1].end_lineno or 0
    return last - body[0].lineno + 1 if body else 0


def long_functions(sources: Sources) -> list[str]:
    return [
        f"{module}.{function.name}: {lines} lines"
        for module, tree in sources.items()
        for function in functions(tree)
        if (lines := body_lines(function)) > FUNCTION_LINES
    ]


def unlisted_exports(sources: Sources, packages: set[str]) -> list[str]:
    """Packages whose `__all__` is not exactly what their `__init__` imports or defines in public."""
    found = []
    for module in sorted(packages):
        names, listed = set(), set()
        for node in sources[module].body:
            if isinstance(node, ast.ImportFrom):
                names |= {alias.asname or alias.name for alias in node.names}
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Assign):
                targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
                if "__all__" in targets:
                    listed = set(ast.literal_eval(node.value))
                else:
                    names |= targets
        public = {name for name in names if not name.startswith("_") and name != "annotations"}
        if missed := public ^ {name for name in listed if not name.startswith("_")}:
            found.append(f"{module}: __all__ differs in {sorted(missed)}")
    return found


def test_every_module_has_a_layer():
    assert without_layer(SOURCES) == []


def test_imports_go_down_only():
    assert upward_imports(SOURCES) == []


def test_there_are_no_import_cycles():
    assert import_cycles(SOURCES) == []


def test_our_own_modules_are_imported_at_module_level():
    assert local_imports(SOURCES) == []


def test_heavy_packages_stay_where_they_belong():
    assert misplaced_heavy_imports(SOURCES) == []


def test_no_handler_catches_everything():
    assert broad_excepts(SOURCES) == []


def test_random_generators_are_required_keywords():
    assert loose_generators(SOURCES) == []


def test_modules_and_functions_are_short():
    lines = {module_name(path): path.read_text(encoding="utf-8").count("\n") for path in FILES}
    assert {module: count for module, count in lines.items() if count > MODULE_LINES} == {}
    assert long_functions(SOURCES) == []


def test_folders_are_at_most_two_deep():
    assert [path for path in FILES if len(path.relative_to(ROOT).parents) - 1 > FOLDER_DEPTH] == []


def test_nothing_is_left_for_later():
    marks = ("TO" + "DO", "FIX" + "ME", "NotImplemented" + "Error")
    left = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if any(mark in line for mark in marks)
    ]
    assert left == []


def test_packages_list_what_they_export():
    packages = {module_name(path) for path in FILES if path.name == "__init__.py"}
    assert unlisted_exports(SOURCES, packages) == []


def test_tests_mirror_the_tree_under_unique_names():
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    names = [path.name for path in tests]
    assert [name for name in sorted(set(names)) if names.count(name) > 1] == []
    folders = {path.parent.relative_to(ROOT / "tests") for path in tests}
    assert [str(folder) for folder in sorted(folders) if not (ROOT / folder).is_dir()] == []


HELP = """
import scenegen.cli
sys.argv = ["scenegen", "--help"]
try:
    scenegen.cli.main()
except SystemExit:
    pass
"""


@pytest.mark.parametrize("code", ["import scenegen", "import scenegen.cli", HELP], ids=["package", "cli", "help"])
def test_starting_loads_nothing_heavy(code):
    report = f"import sys\n{code}\nprint('loaded:', *sorted({set(NOT_AT_START)!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_processes_of_expand_load_no_lance():
    """They fork from a server that imported this module, and Lance's threads do not survive a fork."""
    code = "import sys, scenegen.commands.recipe; print(sorted({'lance', 'pyarrow', 'duckdb'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


def planted(**modules: str) -> Sources:
    """A tree of modules with faults; `__` in a name stands for a dot."""
    return {name.replace("__", "."): ast.parse(text) for name, text in modules.items()}


def test_the_rules_find_planted_faults():
    sources = planted(
        scenegen__cell="from scenegen.expand import expand",
        scenegen__expand="from scenegen import cell\nimport pxr.Usd",
        scenegen__manager="",
        library__keep="def keep():\n    import validators.run",
        validators__run="def run(rng):\n    try: pass\n    except Exception: pass\ndef _draw(*, rng=None): pass",
        prompts="from prompts.load import load, hidden\n__all__ = ['load']",
        evaluator__loop=f"def loop():\n    {'; '.join(['pass'])}\n" + "    pass\n" * FUNCTION_LINES,
    )
    assert without_layer(sources) == ["scenegen.manager"]
    assert upward_imports(sources) == ["scenegen.cell imports scenegen.expand"]
    assert import_cycles(sources) == [["scenegen.cell", "scenegen.expand"]]
    assert local_imports(sources) == ["library.keep.keep imports validators.run"]
    assert misplaced_heavy_imports(sources) == ["scenegen.expand imports pxr.Usd"]
    assert broad_excepts(sources) == ["validators.run.run"]
    assert loose_generators(sources) == ["validators.run.run", "validators.run._draw"]
    assert long_functions(sources) == ["evaluator.loop.loop: 51 lines"]
    assert unlisted_exports(sources, {"prompts"}) == ["prompts: __all__ differs in ['hidden']"]
