"""One contract suite over every built-in part."""

import re
from collections import Counter

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull
from trimesh.ray.ray_pyembree import RayMeshIntersector
from trimesh.triangles import closest_point

from scenegen.geometry import quat_to_matrix
from scenegen.parts.builtin import FAMILIES, builtin_ids, builtin_part
from scenegen.parts.grasp import FRICTION, MAX_GRASPS, MAX_WIDTH_M
from scenegen.parts.mass import volume_and_center
from scenegen.parts.material import Material
from scenegen.parts.rest import LEAST_MARGIN_RAD, LEAST_PROBABILITY
from scenegen.record import quantise

OCCLUDERS = ("cable", "glove", "chip")
AXIAL = (
    "hex_nut",
    "flat_washer",
    "spur_gear",
    "ball_bearing",
    "bushing",
    "flange",
    "compression_spring",
    "retaining_ring",
)
"""Families with a hole along Z at the frame's origin."""


@pytest.fixture(scope="module", params=builtin_ids())
def part(request):
    return builtin_part(request.param)


def material_of(part) -> Material:
    return next(family.material for family in FAMILIES if part.id in family.sizes)


def planes(collider):
    """Outward unit normals and offsets of a collider's faces."""
    a, b, c = np.moveaxis(collider.vertices[collider.faces], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, np.einsum("ij,ij->i", normals, a)


def depth_outside(part, points):
    """Distance of points to the nearest collider's faces, negative inside of it."""
    depths = []
    for collider in part.colliders:
        normals, offsets = planes(collider)
        depths.append((points @ normals.T - offsets).max(axis=1))
    return np.min(depths, axis=0)


def test_names_are_prim_names_and_facts_are_complete(part):
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", part.id)
    assert re.fullmatch(r"[a-z][a-z_]*", part.label)
    assert part.standard
    assert part.dimensions
    assert all(np.isfinite(v) and quantise(v) == v for v in part.dimensions.values())
    assert part.friction > 0
    assert re.fullmatch(r"[0-9a-f]{24}", part.content_id)


def test_mesh_is_watertight_and_outward(part):
    faces = part.mesh.faces
    edges = Counter((int(f[i]), int(f[(i + 1) % 3])) for f in faces for i in range(3))
    assert set(edges.values()) == {1}
    assert all((b, a) in edges for a, b in edges)
    assert volume_and_center(part.mesh.vertices, faces)[0] > 0
    assert len(np.unique(part.mesh.vertices, axis=0)) == len(part.mesh.vertices)
    assert np.array_equal(np.unique(faces), np.arange(len(part.mesh.vertices)))
    assert len(faces) <= 2200


def test_mesh_has_triangles_of_some_area_and_lies_on_the_grid(part):
    a, b, c = np.moveaxis(part.mesh.vertices[part.mesh.faces], 1, 0)
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).min() > 0
    steps = part.mesh.vertices / 1e-7
    assert np.abs(steps - np.round(steps)).max() < 1e-3


def test_normals_are_unit_and_outward(part):
    normals = part.mesh.normals
    assert normals.shape == (len(part.mesh.faces), 3, 3)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=2), 1, atol=1e-9)
    a, b, c = np.moveaxis(part.mesh.vertices[part.mesh.faces], 1, 0)
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    assert np.einsum("ijk,ik->ij", normals, flat).min() > np.cos(np.deg2rad(31))


def test_colliders_are_convex_and_outward(part):
    for collider in part.colliders:
        normals, offsets = planes(collider)
        assert (collider.vertices @ normals.T - offsets).max() < 3e-7
        volume, _ = volume_and_center(collider.vertices, collider.faces)
        assert volume == pytest.approx(ConvexHull(collider.vertices).volume, rel=1e-3)
        assert len(collider.vertices) <= 32
        assert collider.kind == "hull" or len(collider.vertices) == 8


def test_colliders_are_few_and_cover_the_mesh(part):
    limit = 16 if part.family == "flange" else 12
    assert 1 <= len(part.colliders) <= limit
    size = np.ptp(part.mesh.vertices, axis=0).max()
    assert depth_outside(part, part.mesh.vertices).max() < min(1.1e-3, 0.07 * size)


def test_colliders_are_not_much_larger_than_the_mesh(part):
    filled = sum(volume_and_center(c.vertices, c.faces)[0] for c in part.colliders)
    volume, _ = volume_and_center(part.mesh.vertices, part.mesh.faces)
    hull = ConvexHull(part.mesh.vertices).volume
    assert volume * 0.85 < filled < hull * 1.3
    low, high = part.collision_vertices.min(axis=0), part.collision_vertices.max(axis=0)
    grown = np.maximum(part.mesh.vertices.min(axis=0) - low, high - part.mesh.vertices.max(axis=0))
    assert grown.max() < 0.09 * np.ptp(part.mesh.vertices, axis=0).max()


@pytest.mark.parametrize("part_id", [i for family in FAMILIES if family.name in AXIAL for i in family.sizes])
def test_holes_stay_open(part_id):
    part = builtin_part(part_id)
    radius = np.linalg.norm(part.mesh.vertices[:, :2], axis=1).min()
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    ring = 0.97 * radius * np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    assert depth_outside(part, np.concatenate([ring, np.zeros((1, 3))])).min() > 0


def test_bolt_holes_stay_open():
    bracket, flange = builtin_part("l_bracket_right"), builtin_part("flange_40_4_m6")
    turns = np.arange(4) * np.pi / 2
    bolts = 0.020 * np.column_stack([np.cos(turns), np.sin(turns), 0 * turns])
    assert depth_outside(flange, bolts).min() > 0.003
    vertices = bracket.mesh.vertices
    hole = vertices[(np.abs(vertices[:, 1] - vertices[:, 1].min()) < 1e-6)]  # rim of the wall's hole and its outline
    middle = vertices.min(axis=0) + np.array([0.010 + 0.0035, 0.00125, (0.024 + 0.0025) * 0.55])
    rim = np.linalg.norm(hole - middle, axis=1)
    assert rim.min() == pytest.approx(np.hypot(0.00275, 0.00125), rel=1e-3)
    assert depth_outside(bracket, middle[None]).min() > 0.0026


def test_mass_and_inertia_agree_with_numeric_integration(part):
    mass, center, inertia = integrate(part, count=160)
    density = material_of(part).density_kg_m3
    assert part.mass.mass_kg == pytest.approx(mass * density, rel=0.015)
    size = np.ptp(part.mesh.vertices, axis=0).max()
    np.testing.assert_allclose(part.mass.center_of_mass_m, center, atol=0.006 * size)
    turn = quat_to_matrix(part.mass.principal_axes_xyzw)
    tensor = turn @ np.diag(part.mass.diagonal_inertia_kg_m2) @ turn.T
    np.testing.assert_allclose(tensor, inertia * density, atol=0.02 * np.max(part.mass.diagonal_inertia_kg_m2))


def integrate(part, *, count):
    """Volume, centroid and second moments per density, by chords of a jittered grid of vertical rays."""
    rng = np.random.default_rng(3)
    low, high = part.mesh.vertices.min(axis=0), part.mesh.vertices.max(axis=0)
    cells = np.stack(np.meshgrid(np.arange(count), np.arange(count)), axis=-1).reshape(-1, 2)
    xy = low[:2] + (cells + rng.random(cells.shape)) / count * (high - low)[:2]
    starts = np.column_stack([xy, np.full(len(xy), low[2] - 1e-3)])
    mesh = trimesh.Trimesh(part.mesh.vertices, part.mesh.faces, process=False)
    points, rays, _ = RayMeshIntersector(mesh).intersects_location(starts, np.tile([0.0, 0.0, 1.0], (len(starts), 1)))
    order = np.lexsort([points[:, 2], rays])
    rays, heights = rays[order], points[order, 2]
    even = np.isin(rays, np.flatnonzero(np.bincount(rays, minlength=len(starts)) % 2 == 0))
    bottom, top = heights[even][::2], heights[even][1::2]
    x, y = xy[rays[even][::2]].T
    area = np.prod((high - low)[:2]) / count**2
    length = (top - bottom) * area
    volume = length.sum()
    center = np.array([(x * length).sum(), (y * length).sum(), ((top**2 - bottom**2) / 2 * area).sum()]) / volume
    x, y, bottom, top = x - center[0], y - center[1], bottom - center[2], top - center[2]
    zz = ((top**3 - bottom**3) / 3 * area).sum()
    half = (top**2 - bottom**2) / 2 * area
    xx, yy, xy_, xz, yz = (x * x * length).sum(), (y * y * length).sum(), (x * y * length).sum(), x @ half, y @ half
    return volume, center, np.array([[yy + zz, -xy_, -xz], [-xy_, xx + zz, -yz], [-xz, -yz, xx + yy]])


def test_mass_records_are_canonical(part):
    facts = part.mass
    moments = facts.diagonal_inertia_kg_m2
    assert all(quantise(v) == v for v in (facts.mass_kg, *facts.center_of_mass_m, *moments, *facts.principal_axes_xyzw))
    assert sum(moments) - 2 * max(moments) > -1e-6 * max(moments)
    assert np.linalg.norm(facts.principal_axes_xyzw) == pytest.approx(1, abs=1e-6)
    assert next(v for v in facts.principal_axes_xyzw[::-1] if v != 0) > 0
    size = np.ptp(part.mesh.vertices, axis=0).max()
    assert np.linalg.norm(facts.center_of_mass_m) < 1e-4 * size


def test_resting_poses_are_shares_of_one_and_touch_the_plane(part):
    assert sum(pose.probability for pose in part.stable_poses) == pytest.approx(1, abs=1e-5)
    for pose in part.stable_poses:
        assert pose.probability >= LEAST_PROBABILITY
        heights = (part.collision_vertices @ quat_to_matrix(pose.quat_xyzw).T)[:, 2] + pose.height_m
        assert abs(heights.min()) < 1e-7
        assert (heights < 2e-6).sum() >= 3


def test_resting_poses_are_statically_stable(part):
    for pose in part.stable_poses:
        turn = quat_to_matrix(pose.quat_xyzw)
        placed = part.collision_vertices @ turn.T
        support = placed[placed[:, 2] < placed[:, 2].min() + 2e-6][:, :2]
        center = turn @ part.mass.center_of_mass_m
        equations = ConvexHull(support).equations
        margin = -(equations[:, :2] @ center[:2] + equations[:, 2]).max()
        assert np.arctan2(margin, center[2] + pose.height_m) >= LEAST_MARGIN_RAD - 1e-3


def test_resting_poses_differ_by_more_than_yaw(part):
    down = [quat_to_matrix(pose.quat_xyzw).T @ [0, 0, -1] for pose in part.stable_poses]
    for index, first in enumerate(down):
        assert all(first @ second < np.cos(np.deg2rad(1)) for second in down[index + 1 :])


def test_grasps_are_antipodal(part):
    grasps = part.grasps
    assert 8 <= len(grasps.widths_m) <= MAX_GRASPS
    assert grasps.widths_m.min() > 0
    assert grasps.widths_m.max() <= MAX_WIDTH_M
    np.testing.assert_allclose(np.linalg.norm(grasps.axes, axis=1), 1, atol=1e-9)
    for side in (-1, 1):
        contacts = grasps.centers_m + side * grasps.widths_m[:, None] / 2 * grasps.axes
        distance, lean = nearest(part.mesh, contacts, side * grasps.axes)
        assert distance.max() < 2e-6
        assert lean.max() <= np.arctan(FRICTION) + 1e-6


def nearest(mesh, points, directions):
    """Distance of points to the mesh, and the least angle between a direction and the normals found there."""
    corners = mesh.vertices[mesh.faces] * 1e3  # trimesh's tolerances want larger numbers than metres give
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    distance, lean = [], []
    for point, direction in zip(points * 1e3, directions, strict=True):
        gaps = np.linalg.norm(closest_point(corners, np.tile(point, (len(corners), 1))) - point, axis=1)
        touched = gaps < gaps.min() + 1e-3
        distance.append(gaps.min())
        lean.append(np.arccos(np.clip((normals[touched] @ direction).max(), -1, 1)))
    return np.array(distance) / 1e3, np.array(lean)


def test_look_alikes_exist_and_are_mutual(part):
    assert part.id not in part.look_alikes
    for other in part.look_alikes:
        assert part.id in builtin_part(other).look_alikes
    assert part.look_alikes or part.label in OCCLUDERS or part.id == "retaining_ring_bore_22"
