"""One small scene, byte for byte; `SCENEGEN_REFRESH_GOLDEN=1` writes the files anew."""

import os
from pathlib import Path

import numpy as np
import pytest

from scenegen.cell import Cell
from scenegen.geometry import Pose
from scenegen.nominal import nominal_fixtures, nominal_scenario
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Collider, Grasps, MassProperties, Mesh, Part, StablePose
from scenegen.scenario import Item, Layout, Lights, Look, ShadowCaster, SphereLight, Task
from scenegen.usd.boxes import BOX_FACES, CORNERS
from scenegen.usd.folder import StageFolder
from scenegen.usd.part_prims import part_tree
from scenegen.usd.reader import read_scenario
from scenegen.usd.text import layer_text
from scenegen.usd.validation import validate_stage
from scenegen.usd.writer import SceneWriter

GOLDEN = Path(__file__).with_name("golden")
JOINT = {"a_m": 0.1, "d_m": 0.2, "alpha_rad": 0.5, "lower_rad": -2.0, "upper_rad": 2.0, "torque_n_m": 10.0}


@pytest.fixture(scope="module")
def block():
    normals = np.repeat(np.cross(*_edges(CORNERS, BOX_FACES))[:, None], 3, axis=1)
    corners = CORNERS * (0.02, 0.01, 0.01)
    return Part(
        id="block",
        family="block",
        label="block",
        standard="none",
        dimensions={"length_m": 0.02},
        mesh=Mesh(corners, BOX_FACES, normals),
        colliders=(Collider("box", corners, BOX_FACES),),
        mass=MassProperties(0.0157, (0.0, 0.0, 0.0), (2.6e-7, 6.5e-7, 6.5e-7), (0.0, 0.0, 0.0, 1.0)),
        stable_poses=(StablePose((0.0, 0.0, 0.0, 1.0), 0.005, 1.0),),
        grasps=Grasps(np.zeros((1, 3)), np.array([[0.0, 1.0, 0.0]]), np.array([0.01])),
        look=Look(color=(0.6, 0.6, 0.6), metallic=1.0, roughness=0.3),
        friction=0.4,
    )


def _edges(corners: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b, c = (corners[faces[:, index]] for index in range(3))
    return b - a, c - a


@pytest.fixture(scope="module")
def small_cell():
    pose, box = Pose().model_dump(), {"wall_height_m": 0.02, "wall_thickness_m": 0.002}
    look = {"color": [0.1, 0.2, 0.3]}
    return Cell.from_data(
        {
            "name": "small",
            "robot": {
                "model": "Arm",
                "convention": "standard",
                "joints": [JOINT] * 6,
                "pose_tcp_to_flange": pose,
                "start_joints_rad": [0.1] * 6,
                "gripper": {
                    "opening_m": 0.08,
                    "finger_width_m": 0.02,
                    "finger_thickness_m": 0.01,
                    "finger_depth_m": 0.04,
                    "min_grasp_height_m": 0.001,
                    "force_n": 40.0,
                },
            },
            "table": {"pose_top_to_world": pose, "size_m": [1.0, 0.8, 0.04]},
            "feed": {"kind": "tray", "pose_to_world": {"position_m": [0.4, 0.0, 0.004]}, "size_m": [0.2, 0.2], **box},
            "bins": [
                {
                    "name": "bin_a",
                    "label": "A",
                    "pose_to_world": {"position_m": [0.4, 0.3, 0.004]},
                    "size_m": [0.1, 0.1],
                    "look": look,
                    "capacity": 4,
                    **box,
                }
            ],
            "rules": [{"match": "block", "bin": "bin_a"}],
            "cameras": [
                {
                    "name": "overhead",
                    "pose_to_mount": {"position_m": [0.4, 0.0, 0.8]},
                    "width_px": 64,
                    "height_px": 48,
                    "focal_px": [200.0, 200.0],
                    "principal_px": [32.0, 24.0],
                }
            ],
            "lights": [
                {"kind": "distant", "name": "key", "illuminance_lux": 500.0, "quat_xyzw": [0.0, 0.0, 0.0, 1.0]},
                {"kind": "dome", "name": "hall", "luminance_nit": 50.0},
            ],
            "table_look": look,
            "feed_look": look,
            "inventory": [{"part": "block", "count": 2}],
            "fill": [1, 2],
            "instructions": ["Sort."],
            "allowed_causes": ["nominal"],
            "limits": {"takt_s": 8.0, "contact_force_n": 40.0},
        }
    )


@pytest.fixture(scope="module")
def scenario(small_cell, block):
    layout = Layout(
        fixtures=nominal_fixtures(small_cell),
        items=(
            Item(name="block_00", part="block", zone="feed", pose_to_world=Pose(position_m=(0.4, 0.01, 0.009))),
            Item(
                name="block_01",
                part="block",
                zone="feed",
                pose_to_world=Pose(position_m=(0.36, -0.02, 0.009), quat_xyzw=(0.0, 0.0, 0.6, 0.8)),
            ),
        ),
    )
    task = Task(rules=small_cell.rules, instruction='Put each "block" into bin A.')
    base = nominal_scenario(small_cell, Catalogue([block]), layout, task)
    heavy = base.matter.items[1].model_copy(update={"mass_kg": 0.03, "friction": 0.2})
    lamp = SphereLight(
        name="lamp", luminance_nit=2000.0, temperature_k=3000.0, radius_m=0.05, position_m=(0.0, 0.5, 1.0)
    )
    card = ShadowCaster(name="card", size_m=(0.2, 0.1), pose_to_world=Pose(position_m=(0.4, 0.0, 0.9)))
    return base.varied(
        matter=base.matter.model_copy(update={"items": (base.matter.items[0], heavy)}),
        lights=Lights(lights=(lamp, small_cell.lights[0]), shadow_casters=(card,)),
    )


@pytest.mark.parametrize("name", ["cell", "layout", "scene", "part"])
def test_golden_scene(name, small_cell, block, scenario):
    writer = SceneWriter(small_cell, Catalogue([block]))
    text = {
        "cell": writer.cell_layer(),
        "layout": writer.layout_layer(scenario),
        "scene": writer.scene_layer(scenario),
        "part": layer_text(part_tree(block)),
    }[name]
    file = GOLDEN / f"{name}.usda"
    if os.environ.get("SCENEGEN_REFRESH_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_the_golden_scene_is_valid_and_reads_back(small_cell, block, scenario, tmp_path):
    path = StageFolder(tmp_path, small_cell, Catalogue([block])).write(scenario)
    assert validate_stage(path) == ()
    assert read_scenario(path) == scenario
