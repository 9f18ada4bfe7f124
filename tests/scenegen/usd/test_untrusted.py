"""USD files that would read, run or consume what they must not: each is refused, quickly, by its rule."""

import os
import time
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest
from pxr import Sdf, Vt

from scenegen.errors import UnreadableStage, UnsafeStage
from scenegen.usd.inspection import Inspector
from scenegen.usd.part_file import part_bytes
from scenegen.usd.reader import read_scenario
from scenegen.usd.refused import Refused
from scenegen.usd.untrusted import StageLimits, refuse_unsafe

HEADER = '#usda 1.0\n(\n    defaultPrim = "World"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'


@pytest.fixture
def root(tmp_path):
    """A folder that scenes may refer into, beside a secret that they may not."""
    (tmp_path / "secret.usda").write_text(HEADER + 'def Xform "World" {\n    string password = "x"\n}\n')
    (tmp_path / "secret.png").write_bytes(b"\x89PNG")
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "part.usda").write_text(HEADER + 'def Xform "World" {\n    def Cube "cube" {\n    }\n}\n')
    return folder


def scene(root: Path, body: str, *, name: str = "scene.usda") -> Path:
    path = root / name
    path.write_text(HEADER + body)
    return path


def prim(metadata: str = "", body: str = "") -> str:
    return f'def Xform "World" (\n    {metadata}\n)\n{{\n    {body}\n}}\n'


def inspect(path: Path, root: Path, **limits) -> None:
    """Inspect a file without a process of its own."""
    Inspector(str(path), os.path.realpath(root), asdict(StageLimits(**limits))).run()


def broken_rule(path: Path, root: Path, **limits) -> str:
    """The rule that a file breaks."""
    with pytest.raises(Refused) as caught:
        inspect(path, root, **limits)
    return caught.value.answer["rule"]


def refused(path: Path, root: Path, **limits) -> UnsafeStage:
    start = time.monotonic()
    with pytest.raises(UnsafeStage) as caught:
        refuse_unsafe(path, root=root, limits=StageLimits(**limits))
    assert time.monotonic() - start < 6.0  # five seconds, and what it takes to stop a process
    return caught.value


def test_a_harmless_scene_passes(root):
    refuse_unsafe(scene(root, prim("prepend references = @./part.usda@")), root=root)


def test_a_variant_that_composes_only_what_it_should_passes(root):
    body = (
        'def Xform "World" (\n    prepend variantSets = "kind"\n    variants = { string kind = "a" }\n)\n{\n'
        '    variantSet "kind" = {\n        "a" {\n            def Cube "a" {\n            }\n        }\n'
        '        "b" (\n            prepend references = @./part.usda@\n        ) {\n        }\n    }\n}\n'
    )
    inspect(scene(root, body), root)


@pytest.mark.parametrize(
    ("metadata", "rule"),
    [
        ("prepend references = @../secret.usda@", "outside"),
        ("prepend payload = @../secret.usda@", "outside"),
        ("prepend references = @/etc/secret.usda@", "absolute"),
        ("prepend payload = @/etc/secret.usda@", "absolute"),
        ("prepend references = @http://example.com/a.usda@", "url"),
        ("prepend references = @omniverse://example.com/a.usda@", "url"),
        ("prepend references = @file:///etc/a.usda@", "url"),
        ("prepend references = @C:/a.usda@", "url"),
        ("prepend references = @./part.usda:SDF_FORMAT_ARGS:a=b@", "path"),
        ("prepend references = @./model.abc@", "extension"),
        ("prepend references = @./points.vdb@", "extension"),
        ("prepend references = @elsewhere.usda@", "missing"),
        ("assetInfo = { asset identifier = @/etc/hostname.png@ }", "absolute"),
        ("customData = { dictionary a = { asset b = @../secret.png@ } }", "outside"),
        ("clips = { dictionary default = { asset[] assetPaths = [@./part.usda@] } }", "clips"),
    ],
)
def test_what_a_prim_refers_to(root, metadata, rule):
    assert broken_rule(scene(root, prim(metadata)), root) == rule


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("asset inputs:file = @/etc/hostname@", "absolute"),
        ("asset inputs:file = @../secret.png@", "outside"),
        ("asset[] inputs:files = [@./a.png@, @https://example.com/a.png@]", "url"),
        ("asset info:mdl:sourceAsset = @./material.mdl@", "extension"),
        ('uniform string info:glslfx:sourceCode = "x"', "code"),
        ("asset[] omni:scripting:scripts = [@./run.py@]", "code"),
        ('def OmniGraph "g" {\n    }', "code"),
        ('def OmniGraphNode "g" {\n    }', "code"),
        ('def GenerativeProcedural "g" {\n    }', "code"),
        ('def OpenVDBAsset "g" {\n    }', "code"),
        ('def Unheard "g" {\n    }', "type"),
        ('def Xform "s" (\n        prepend apiSchemas = ["OmniScriptingAPI"]\n    ) {\n    }', "code"),
        ('def Xform "s" (\n        prepend apiSchemas = ["ElsewhereAPI:a"]\n    ) {\n    }', "type"),
        ("double3 xformOp:translate = (nan, 0, 0)", "number"),
        ("double3 xformOp:translate = (0, inf, 0)", "number"),
        ("double3 xformOp:translate = (0, 1e308, 0)", "number"),
        ("point3f[] points = [(0, 0, 0), (0, nan, 0)]", "number"),
        ("quatf xformOp:orient = (nan, 0, 0, 0)", "number"),
        ("matrix4d xformOp:transform = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, nan, 0), (0, 0, 0, 1))", "number"),
        ("float physics:mass = -5", "number"),
        ("double3 xformOp:translate.timeSamples = {\n        0: (0, 0, 0),\n        1: (nan, 0, 0),\n    }", "number"),
    ],
)
def test_what_a_prim_holds(root, body, rule):
    assert broken_rule(scene(root, prim(body=body)), root) == rule


def test_an_unlimited_joint_passes(root):
    inspect(scene(root, prim(body="float physics:breakForce = inf")), root)


def test_sublayers_are_followed(root):
    path = root / "scene.usda"
    path.write_text("#usda 1.0\n(\n    subLayers = [@./between.usda@]\n)\n")
    (root / "between.usda").write_text("#usda 1.0\n(\n    subLayers = [@../secret.usda@]\n)\n")
    assert broken_rule(path, root) == "outside"


def test_a_reference_in_a_variant_that_is_not_selected_is_seen(root):
    body = (
        'def Xform "World" (\n    prepend variantSets = "kind"\n    variants = { string kind = "a" }\n)\n{\n'
        '    variantSet "kind" = {\n        "a" {\n        }\n'
        '        "b" (\n            prepend references = @../secret.usda@\n        ) {\n        }\n    }\n}\n'
    )
    assert broken_rule(scene(root, body), root) == "outside"


def test_a_link_out_of_the_folder_is_seen_through(root):
    (root / "link.usda").symlink_to(root.parent / "secret.usda")
    assert broken_rule(scene(root, prim("prepend references = @./link.usda@")), root) == "outside"


def test_a_linked_folder_is_seen_through(root):
    (root / "linked").symlink_to(root.parent)
    assert broken_rule(scene(root, prim("prepend references = @./linked/secret.usda@")), root) == "outside"


def test_the_scene_itself_may_not_be_a_link_out_of_the_folder(root):
    (root / "scene.usda").symlink_to(root.parent / "secret.usda")
    assert refused(root / "scene.usda", root).rule == "outside"


def test_a_link_within_the_folder_passes(root):
    (root / "link.usda").symlink_to(root / "part.usda")
    inspect(scene(root, prim("prepend references = @./link.usda@")), root)


def test_files_that_reference_each_other(root):
    scene(root, prim("prepend references = @./b.usda@"), name="a.usda")
    scene(root, prim("prepend references = @./a.usda@"), name="b.usda")
    assert broken_rule(root / "a.usda", root) == "cycle"


def test_a_prim_that_references_what_holds_it(root):
    assert (
        broken_rule(scene(root, prim(body='def "a" (\n        references = </World>\n    ) {\n    }')), root) == "cycle"
    )


def test_a_sublayer_of_itself(root):
    path = root / "scene.usda"
    path.write_text("#usda 1.0\n(\n    subLayers = [@./scene.usda@]\n)\n")
    assert broken_rule(path, root) == "cycle"


@pytest.mark.parametrize("levels", [9, 12, 40])
def test_billion_laughs_over_files(root, levels):
    scene(root, prim(), name="level0.usda")
    for level in range(1, levels):
        inner = "".join(
            f'def "c{i}" (\n        references = @./level{level - 1}.usda@\n    ) {{\n    }}\n    ' for i in range(4)
        )
        scene(root, prim(body=inner), name=f"level{level}.usda")
    assert refused(root / f"level{levels - 1}.usda", root).rule == "prims"


@pytest.mark.parametrize("arc", ["references", "payload", "inherits", "specializes"])
def test_billion_laughs_in_one_file(root, arc):
    levels = ['class "level0" {\n}\n']
    for level in range(1, 30):
        inner = "".join(f'    def "c{i}" (\n        {arc} = </level{level - 1}>\n    ) {{\n    }}\n' for i in range(4))
        levels.append(f'class "level{level}" {{\n{inner}}}\n')
    body = "".join(levels) + 'def "World" (\n    references = </level29>\n) {\n}\n'
    assert broken_rule(scene(root, body), root) == "prims"


def test_very_deep_nesting(root):
    depth = 5000
    assert refused(scene(root, 'def "a" {\n' * depth + "}\n" * depth), root).rule in ("depth", "resources")


def test_many_files(root):
    for index in range(20):
        scene(root, prim(f"references = @./chain{index + 1}.usda@"), name=f"chain{index}.usda")
    scene(root, prim(), name="chain20.usda")
    assert broken_rule(root / "chain0.usda", root, layers=10) == "layers"


def test_many_bytes(root):
    assert broken_rule(scene(root, prim(body=f'string a = "{"x" * 5000}"')), root, file_bytes=4096) == "bytes"


def test_a_small_file_of_huge_arrays(root):
    layer = Sdf.Layer.CreateAnonymous(".usdc")
    spec = Sdf.CreatePrimInLayer(layer, "/World")
    layer.defaultPrim = "World"
    for index in range(8):
        attribute = Sdf.AttributeSpec(spec, f"a{index}", Sdf.ValueTypeNames.IntArray)
        attribute.default = Vt.IntArray(12_000_000)
    path = root / "bomb.usdc"
    layer.Export(str(path))
    assert path.stat().st_size < 20_000
    assert broken_rule(path, root) == "numbers"
    assert refused(path, root, memory_bytes=40 * 2**20).rule in ("syntax", "resources")


def test_what_takes_too_long_is_stopped(root):
    assert refused(scene(root, prim()), root, seconds=0.05).rule == "time"


@pytest.mark.parametrize("text", ["", "#usda 1.0\n(", '#usda 1.0\ndef "a" { double x = }', "PXR-USDC", "not usd"])
def test_what_is_no_usd(root, text):
    path = root / "scene.usda"
    path.write_text(text)
    assert broken_rule(path, root) == "syntax"


@pytest.mark.parametrize("share", [0.02, 0.5, 0.95])
def test_a_truncated_binary_file(root, share, catalogue):
    whole = part_bytes(catalogue["hex_nut_m8"])
    path = root / "part.usdc"
    path.write_bytes(whole[: int(len(whole) * share)])
    assert refused(path, root).rule in ("syntax", "resources")


def test_an_unknown_ending(root):
    path = root / "scene.txt"
    path.write_text(HEADER)
    assert refused(path, root).rule == "extension"


def package(root: Path, entries: dict[str, str], *, compression: int = zipfile.ZIP_STORED) -> Path:
    path = root / "scene.usdz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, text in entries.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = compression
            padding = -(archive.fp.tell() + 30 + len(name.encode())) % 64  # data starts at a multiple of 64 bytes
            if padding:
                info.extra = b"\x86\x19" + max(padding - 4, 0).to_bytes(2, "little") + b"\0" * max(padding - 4, 0)
            archive.writestr(info, text)
    return path


def test_a_package_passes(root):
    inner = HEADER + prim("prepend references = @./part.usda@")
    refuse_unsafe(package(root, {"scene.usda": inner, "part.usda": HEADER + prim()}), root=root)


@pytest.mark.parametrize(
    ("entries", "rule"),
    [
        ({"scene.usda": HEADER + prim("references = @/etc/a.usda@")}, "absolute"),
        ({"scene.usda": HEADER + prim("references = @../secret.usda@")}, "outside"),
        ({"scene.usda": HEADER + prim("references = @./nowhere.usda@")}, "missing"),
        ({"scene.usda": HEADER + prim(), "../../evil.usda": HEADER}, "outside"),
        ({"scene.usda": HEADER + prim(), "/abs/evil.usda": HEADER}, "outside"),
        ({"scene.usda": HEADER + prim(), "run.py": ""}, "extension"),
        ({"picture.png": ""}, "package"),
    ],
)
def test_what_a_package_holds(root, entries, rule):
    assert broken_rule(package(root, entries), root) == rule


def test_a_compressed_package(root):
    path = package(root, {"scene.usda": HEADER + prim()}, compression=zipfile.ZIP_DEFLATED)
    assert broken_rule(path, root) == "package"


def test_a_package_that_is_none(root):
    path = root / "scene.usdz"
    path.write_bytes(b"PK nothing")
    assert broken_rule(path, root) == "syntax"


def test_the_sentence_names_file_rule_and_finding(root):
    path = scene(root, prim("prepend references = @../secret.usda@"))
    real, below = os.path.realpath(root.parent / "secret.usda"), os.path.realpath(root)
    assert str(refused(path, root)) == (
        f"{path}: refused (outside): asset '../secret.usda' leads to {real}, which is not below {below}"
    )


def test_reading_a_scene_refuses_first(root):
    with pytest.raises(UnsafeStage, match=r"refused \(url\)"):
        read_scenario(scene(root, prim("references = @http://example.com/a.usda@")))


def test_a_missing_file_is_for_the_reader_to_report(root):
    refuse_unsafe(root / "nowhere.usda", root=root)
    with pytest.raises(UnreadableStage, match="no such file"):
        read_scenario(root / "nowhere.usda")
