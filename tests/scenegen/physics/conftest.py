"""A small cell of plain blocks, and scenes in it."""

import numpy as np
import pytest

from scenegen.cell import InventoryItem
from scenegen.geometry import IDENTITY_QUAT, Pose
from scenegen.nominal import nominal_fixtures
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Collider, Grasps, MassProperties, Mesh, Part, StablePose
from scenegen.scenario import Item, Layout, Look
from scenegen.usd.boxes import BOX_FACES, CORNERS

BLOCK_M = (0.01, 0.016, 0.025)


def build_part(part_id, colliders, *, half_height_m):
    """A part of 20 g with the inertia of a block."""
    vertices = np.concatenate([collider.vertices for collider in colliders])
    x, y, z = BLOCK_M
    inertia = tuple(0.02 / 12 * (a * a + b * b) for a, b in ((y, z), (x, z), (x, y)))
    return Part(
        id=part_id,
        family=part_id,
        label=part_id,
        standard="none",
        dimensions={},
        mesh=Mesh(vertices, colliders[0].faces, np.zeros((len(colliders[0].faces), 3, 3))),
        colliders=tuple(colliders),
        mass=MassProperties(0.02, (0.0, 0.0, 0.0), inertia, IDENTITY_QUAT),
        stable_poses=(StablePose(IDENTITY_QUAT, half_height_m, 1.0),),
        grasps=Grasps(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)),
        look=Look(color=(0.5, 0.5, 0.5)),
        friction=0.5,
    )


@pytest.fixture(scope="session")
def block():
    """A block of 10 x 16 x 25 mm, upright."""
    return build_part("block", [Collider("box", CORNERS * BLOCK_M, BOX_FACES)], half_height_m=BLOCK_M[2] / 2)


@pytest.fixture(scope="session")
def make_cell(cell):
    """Return a variant of the fasteners cell with another inventory."""

    def make(**counts):
        inventory = tuple(InventoryItem(part=part, count=count) for part, count in counts.items())
        return cell.replaced(inventory=inventory, fill=(1, 1))

    return make


@pytest.fixture(scope="session")
def block_cell(make_cell):
    """A cell of six blocks."""
    return make_cell(block=6)


@pytest.fixture(scope="session")
def block_parts(block):
    """The parts of `block_cell`."""
    return Catalogue([block])


@pytest.fixture(scope="session")
def scene(cell):
    """Return a layout of `name: (x, y, z[, quat_xyzw])`, relative to the middle of the feed's floor [m]."""

    def build(**places):
        items = []
        for name, (x, y, z, *quat) in places.items():
            inside = Pose.of((x, y, z), *quat)
            pose = cell.feed.pose_to_world.after(inside)
            items.append(Item(name=name, part=name.rpartition("_")[0], zone="feed", pose_to_world=pose))
        return Layout(fixtures=nominal_fixtures(cell), items=tuple(items))

    return build
