"""The built-in catalogue: ids, determinism, what it costs to load."""

import json
import subprocess
import sys

import pytest

from scenegen.cells.loader import BUILTIN, load_cell
from scenegen.errors import UnknownName
from scenegen.parts.builtin import FAMILIES, LOOK_ALIKES, builtin_catalogue, builtin_ids, builtin_part
from scenegen.record import content_hash

SAMPLE = ("hex_bolt_m6x20", "spur_gear_z20_m1", "glove", "chip", "retaining_ring_10", "l_bracket_left")


def test_there_are_at_least_twelve_families_and_every_id_is_unique():
    assert len({family.label for family in FAMILIES}) >= 12
    assert len(set(builtin_ids())) == len(builtin_ids()) >= 30
    assert {part_id for group in LOOK_ALIKES for part_id in group} <= set(builtin_ids())


def test_an_unknown_part_is_refused_with_a_hint():
    with pytest.raises(UnknownName) as error:
        builtin_part("hex_bolt_m6x2O")
    assert str(error.value) == "unknown part 'hex_bolt_m6x2O' - did you mean 'hex_bolt_m6x20'?"


def test_a_catalogue_holds_each_part_once_in_order():
    catalogue = builtin_catalogue(["glove", "hex_nut_m6", "glove"])
    assert list(catalogue) == ["glove", "hex_nut_m6"]
    assert catalogue["glove"] is builtin_part("glove")


@pytest.mark.parametrize("name", BUILTIN)
def test_the_built_in_cells_find_their_parts(name):
    parts = [item.part for item in load_cell(name).inventory]
    assert list(builtin_catalogue(parts)) == parts


def fingerprint(part):
    arrays = (part.mesh.normals, part.grasps.centers_m, part.grasps.axes, part.grasps.widths_m)
    facts = json.dumps([vars(part.mass), [vars(pose) for pose in part.stable_poses]])
    return [part.content_id, content_hash(*(a.tobytes() for a in arrays), facts.encode())]


def test_another_process_builds_the_same_parts():
    code = (
        "import json, sys, importlib.util as u; s = u.spec_from_file_location('t', sys.argv[1]);"
        "m = u.module_from_spec(s); s.loader.exec_module(m);"
        "print(json.dumps([m.fingerprint(m.builtin_part(i)) for i in m.SAMPLE]))"
    )
    result = subprocess.run([sys.executable, "-c", code, __file__], capture_output=True, text=True, check=True)
    assert json.loads(result.stdout) == [fingerprint(builtin_part(part_id)) for part_id in SAMPLE]


def test_building_parts_loads_none_of_the_slow_packages():
    code = (
        "import sys; from scenegen.parts.builtin import builtin_part; builtin_part('hex_nut_m6');"
        "print(sorted({'trimesh', 'pxr', 'mujoco', 'torch', 'scipy', 'coacd', 'networkx'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
