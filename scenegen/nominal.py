"""The nominal facets of a cell: what a scene holds before any axis has touched it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from scenegen.cell import Cell, CellCamera
from scenegen.geometry import Array, Pose
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.record import once_per_content
from scenegen.robot import Arm
from scenegen.scenario import (
    Asset,
    Camera,
    Cameras,
    CameraSensor,
    FixturePose,
    Item,
    ItemMatter,
    Layout,
    Lights,
    Matter,
    Motion,
    Scenario,
    Sensor,
    Surface,
    Surfaces,
    Task,
)


@once_per_content
def nominal_fixtures(cell: Cell) -> tuple[FixturePose, ...]:
    """Poses of feed and bins as the cell specifies them."""
    return (
        FixturePose(name="feed", pose_to_world=cell.feed.pose_to_world),
        *(FixturePose(name=b.name, pose_to_world=b.pose_to_world) for b in cell.bins),
    )


def nominal_matter_of(item: Item, parts: Catalogue) -> ItemMatter:
    """Mass and friction of one item as its part has them."""
    return matter_of(parts[item.part], name=item.name)


@lru_cache(maxsize=1024)
def matter_of(part: Part, *, name: str) -> ItemMatter:
    """Mass and friction of a part, as those of an item of that name."""
    return ItemMatter(name=name, friction=part.friction, **vars(part.mass))


def nominal_matter(layout: Layout, parts: Catalogue) -> Matter:
    """Masses and friction of all items as their parts have them."""
    return Matter(items=tuple(nominal_matter_of(item, parts) for item in layout.items))


@once_per_content
def nominal_motion(cell: Cell) -> Motion:
    """Robot at its start pose, nothing shakes, the belt runs as specified."""
    speed = cell.feed.speed_m_s if cell.feed.kind == "belt" else 0.0
    return Motion(robot_start_rad=cell.robot.start_joints_rad, belt_speed_m_s=speed)


def nominal_surfaces(cell: Cell, layout: Layout, parts: Catalogue) -> Surfaces:
    """Looks of fixtures and items as cell and parts have them."""
    items = tuple(_surface(item.name, parts[item.part]) for item in layout.items)
    return Surfaces(surfaces=_fixture_surfaces(cell) + items)


@once_per_content
def _fixture_surfaces(cell: Cell) -> tuple[Surface, ...]:
    looks = {"table": cell.table_look, "feed": cell.feed_look, **{b.name: b.look for b in cell.bins}}
    return tuple(Surface(subject=name, look=look) for name, look in looks.items())


@lru_cache(maxsize=1024)
def _surface(name: str, part: Part) -> Surface:
    return Surface(subject=name, look=part.look)


@once_per_content
def nominal_lights(cell: Cell) -> Lights:
    """The cell's lights, nothing shades them."""
    return Lights(lights=cell.lights)


def nominal_cameras(cell: Cell, motion: Motion) -> Cameras:
    """The cell's cameras; one on the flange stands where the start pose of the robot puts it."""
    flange = Arm(cell.robot).pose_flange_to_world(motion.robot_start_rad)
    return Cameras(
        cameras=tuple(
            _camera(c, c.pose_to_mount if c.mount == "world" else flange.after(c.pose_to_mount)) for c in cell.cameras
        )
    )


def _camera(spec: CellCamera, pose_to_world: Pose) -> Camera:
    shared = {name: getattr(spec, name) for name in Camera.model_fields if name in CellCamera.model_fields}
    return Camera(pose_to_world=pose_to_world, **shared)


@once_per_content
def _nominal_cameras(cell: Cell) -> Cameras:
    return nominal_cameras(cell, nominal_motion(cell))


@once_per_content
def nominal_sensor(cell: Cell) -> Sensor:
    """Every camera at its nominal exposure."""
    return Sensor(sensors=tuple(CameraSensor(camera=c.name) for c in cell.cameras))


def nominal_scenario(cell: Cell, parts: Catalogue, layout: Layout, task: Task) -> Scenario:
    """Complete a layout and a task with the nominal value of every other facet."""
    motion = nominal_motion(cell)
    used = sorted({item.part for item in layout.items})
    return Scenario(
        cell_id=cell.content_id,
        assets=tuple(Asset(part=name, content=parts[name].content_id) for name in used),
        layout=layout,
        matter=nominal_matter(layout, parts),
        motion=motion,
        surfaces=nominal_surfaces(cell, layout, parts),
        lights=nominal_lights(cell),
        cameras=_nominal_cameras(cell),
        sensor=nominal_sensor(cell),
        task=task,
    )


def spin_damping(cell: Cell, parts: Catalogue) -> Array:
    """Return the viscous torque on the part of each slot by its rotation [N m s/rad], shape [slots]; all simulators."""
    if not cell.physics.spin_decay_s:
        return np.zeros(len(cell.slots))
    means = [float(np.mean(parts[item.part].mass.diagonal_inertia_kg_m2)) for item in cell.slots.values()]
    return np.array(means) / cell.physics.spin_decay_s
