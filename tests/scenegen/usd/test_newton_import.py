"""Newton's importer sees what the records say: masses, inertias, poses, friction and colliders."""

import logging

import numpy as np
import pytest

from scenegen.geometry import Pose, quat_to_matrix
from scenegen.scenario import Matter
from scenegen.usd.folder import StageFolder

newton = pytest.importorskip("newton", reason="the extra 'isaac' is not installed, so there is no Newton importer")


@pytest.fixture(scope="module")
def scenario(base_scenario):
    """A scene in which one item's mass properties and friction differ from its part's."""
    first, *others = base_scenario.matter.items
    changed = first.model_copy(
        update={
            "mass_kg": 0.0625,
            "center_of_mass_m": (0.001, 0.0, -0.002),
            "diagonal_inertia_kg_m2": (2e-6, 3e-6, 4e-6),
            "principal_axes_xyzw": Pose.of((0, 0, 0), (0.1, 0.2, 0.3, 0.9)).quat_xyzw,
            "friction": 0.25,
        }
    )
    return base_scenario.varied(matter=Matter(items=(changed, *others)))


@pytest.fixture(scope="module")
def imported(cell, catalogue, scenario, tmp_path_factory):
    """The model builder after importing the scene, and indices of bodies and shapes by prim path."""
    path = StageFolder(tmp_path_factory.mktemp("library"), cell, catalogue).write(scenario)
    logging.getLogger("warp").setLevel(logging.ERROR)
    builder = newton.ModelBuilder()
    found = builder.add_usd(str(path))
    return builder, found["path_body_map"], found["path_shape_map"], found


def test_masses_and_inertias(imported, scenario):
    builder, bodies, _, _ = imported
    for matter in scenario.matter.items:
        body = bodies[f"/World/Items/{matter.name}"]
        axes = quat_to_matrix(np.array(matter.principal_axes_xyzw) / np.linalg.norm(matter.principal_axes_xyzw))
        inertia = axes @ np.diag(matter.diagonal_inertia_kg_m2) @ axes.T
        assert builder.body_mass[body] == pytest.approx(matter.mass_kg, rel=1e-6)
        np.testing.assert_allclose(builder.body_com[body], matter.center_of_mass_m, atol=1e-9)
        np.testing.assert_allclose(
            np.array(builder.body_inertia[body]).reshape(3, 3), inertia, atol=2e-6 * inertia.max()
        )


def test_poses_of_items_and_fixtures(imported, scenario):
    builder, bodies, _, _ = imported
    placed = {f"/World/Items/{one.name}": one.pose_to_world for one in scenario.layout.items}
    placed |= {f"/World/Fixtures/{one.name}": one.pose_to_world for one in scenario.layout.fixtures}
    for path, pose in placed.items():
        transform = np.array(builder.body_q[bodies[path]])
        np.testing.assert_allclose(transform[:3], pose.position_m, atol=1e-6)
        assert abs(np.dot(transform[3:], pose.quat)) == pytest.approx(1.0, abs=1e-6)
    assert len(bodies) == len(placed)


def test_colliders_and_friction(imported, scenario, cell, catalogue):
    builder, _, shapes, _ = imported
    friction = {one.name: one.friction for one in scenario.matter.items}
    count = {}
    for path, shape in shapes.items():
        if not builder.shape_flags[shape] & int(newton.ShapeFlags.COLLIDE_SHAPES):
            continue
        _, _, group, *rest = path.split("/")
        owner = rest[0]
        count[owner] = count.get(owner, 0) + 1
        expected = friction[owner] if group == "Items" else cell.physics.fixture_friction
        assert builder.shape_material_mu[shape] == pytest.approx(expected)
    expected = {one.name: len(catalogue[one.part].colliders) for one in scenario.layout.items}
    expected |= {name: len(container.boxes()) for name, container in cell.containers.items()}
    assert count == expected | {"table": 1}


def test_hulls_keep_their_corners(imported, scenario, catalogue):
    builder, _, shapes, _ = imported
    for item in scenario.layout.items:
        for index, collider in enumerate(catalogue[item.part].colliders):
            shape = shapes[f"/World/Items/{item.name}/Colliders/collider_{index:02d}"]
            if collider.kind == "box":
                size = 2 * np.array(builder.shape_scale[shape])
                assert sorted(size) == pytest.approx(sorted(np.ptp(collider.vertices, axis=0)), abs=1e-6)
            else:
                corners = np.asarray(builder.shape_source[shape].vertices)
                np.testing.assert_allclose(corners.min(axis=0), collider.vertices.min(axis=0), atol=1e-6)
                np.testing.assert_allclose(corners.max(axis=0), collider.vertices.max(axis=0), atol=1e-6)


def test_fixtures_are_kinematic_and_the_clock_is_the_cells(imported, cell):
    builder, bodies, _, found = imported
    for name in cell.containers:
        assert builder.body_flags[bodies[f"/World/Fixtures/{name}"]] & int(newton.BodyFlags.KINEMATIC)
    assert found["physics_dt"] == pytest.approx(cell.physics.timestep_s)
    assert found["max_solver_iterations"] == cell.physics.iterations
