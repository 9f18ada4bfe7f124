"""The compiled model: what is written into it later counts as if it had been compiled in."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from scenegen.errors import InvalidRecord, UnknownName
from scenegen.geometry import Pose, quat_about
from scenegen.nominal import nominal_matter
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import MassProperties
from scenegen.physics.model import SceneModel

ODD = MassProperties(
    mass_kg=0.05,
    center_of_mass_m=(0.002, -0.003, 0.006),
    diagonal_inertia_kg_m2=(3e-6, 5e-6, 7e-6),
    principal_axes_xyzw=tuple(float(v) for v in Pose.of((0, 0, 0), quat_about((1, 2, 3), 0.7)).quat_xyzw),
)
BLOCK_M = (0.01, 0.016, 0.025)
DERIVED = ("body_invweight0", "dof_invweight0", "dof_M0", "body_subtreemass", "bvh_aabb", "geom_friction", "body_ipos")


def test_mass_written_later_equals_mass_compiled_in(block_cell, block, scene):
    layout = scene(block_00=(0, 0, 0.02), block_04=(0.03, 0, 0.02))
    odd = Catalogue([replace(block, mass=ODD, friction=0.9)])
    compiled = SceneModel(block_cell, odd, sleep=False)
    compiled.load(layout, nominal_matter(layout, odd))
    written = SceneModel(block_cell, Catalogue([block]), sleep=False)
    written.load(layout, nominal_matter(layout, odd))
    everything = scene(**{f"block_0{index}": (0.03 * index, 0, 0.02) for index in range(6)})
    written.load(everything, nominal_matter(everything, odd))
    for field in DERIVED:
        np.testing.assert_array_equal(getattr(written.model, field), getattr(compiled.model, field), err_msg=field)


def test_mass_written_later_moves_as_mass_compiled_in(block_cell, block, scene):
    """A body that MuJoCo itself compiled with these mass properties, let fall onto an edge, is the reference."""
    layout = scene(block_00=(0, 0, 0.02, quat_about((1, 0.3, 0), 0.4)))
    undamped = block_cell.replaced(physics=block_cell.physics.replaced(spin_decay_s=0.0))
    written = SceneModel(undamped, Catalogue([block]), sleep=False)
    written.load(layout, nominal_matter(layout, Catalogue([replace(block, mass=ODD)])))
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.integrator = 0.0025, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10
    contact = {"type": mujoco.mjtGeom.mjGEOM_BOX, "solref": (0.005, 1), "condim": 3}
    floor = spec.worldbody.add_body(pos=(0.5, 0, 0.004))
    floor.add_geom(size=(0.1, 0.1, 0.0015), pos=(0, 0, -0.0015), friction=(0.6, 0, 0), **contact)
    x, y, z, w = ODD.principal_axes_xyzw
    body = spec.worldbody.add_body(
        mass=ODD.mass_kg,
        ipos=ODD.center_of_mass_m,
        iquat=(w, x, y, z),
        inertia=ODD.diagonal_inertia_kg_m2,
        explicitinertial=True,
    )
    body.add_freejoint()
    body.add_geom(size=[s / 2 for s in BLOCK_M], friction=(0.5, 0, 0), **contact)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = written.data.qpos[:7]
    mujoco.mj_step(model, data, nstep=60)
    mujoco.mj_step(written.model, written.data, nstep=60)
    assert data.ncon > 0
    np.testing.assert_allclose(written.data.qpos[:7], data.qpos, atol=1e-6)


def test_absent_slots_get_their_own_mass_back(block_cell, block, scene):
    model = SceneModel(block_cell, Catalogue([block]), sleep=False)
    before = {field: getattr(model.model, field).copy() for field in DERIVED}
    layout = scene(block_00=(0, 0, 0.02))
    model.load(layout, nominal_matter(layout, Catalogue([replace(block, mass=ODD, friction=0.9)])))
    assert model.model.body_mass[model._body["block_00"]] == 0.05
    model.load(layout.replaced(items=()))
    for field, value in before.items():
        np.testing.assert_array_equal(getattr(model.model, field), value, err_msg=field)


def test_what_does_not_fit_the_cell_is_refused(block_cell, block_parts, scene):
    model = SceneModel(block_cell, block_parts, sleep=False)
    layout = scene(block_00=(0, 0, 0.02))
    (item,) = layout.items
    with pytest.raises(UnknownName) as unknown:
        model.load(layout.replaced(items=(item.replaced(name="block_09"),)))
    assert str(unknown.value) == "unknown slot 'block_09' - did you mean 'block_05'?"
    with pytest.raises(InvalidRecord) as other:
        model.load(layout.replaced(items=(item.replaced(part="brick"),)))
    assert str(other.value) == "layout: items: block_00 holds part 'brick' - accepted: 'block'"
    with pytest.raises(UnknownName) as fixture:
        model.load(layout.replaced(fixtures=layout.fixtures[1:]))
    assert str(fixture.value) == "unknown fixture 'feed' - accepted: bin_a, bin_b, bin_c, bin_d"
    with pytest.raises(UnknownName) as matter:
        model.load(layout, nominal_matter(layout.replaced(items=()), block_parts))
    assert str(matter.value) == "unknown matter of item 'block_00' - accepted: "


def test_a_mass_that_is_no_number_is_refused(block_cell, block_parts, scene):
    model = SceneModel(block_cell, block_parts, sleep=False)
    layout = scene(block_00=(0, 0, 0.02))
    matter = nominal_matter(layout, block_parts)
    fields = {name: getattr(matter.items[0], name) for name in type(matter.items[0]).model_fields}
    for mass, shown in ((float("nan"), "nan"), (1e-20, "1e-20"), (float("inf"), "inf")):
        broken = type(matter.items[0]).model_construct(**{**fields, "mass_kg": mass})
        with pytest.raises(InvalidRecord) as error:
            model.load(layout, type(matter).model_construct(items=(broken,)))
        assert str(error.value) == (
            f"matter: block_00: mass {shown} kg, inertia 1.46833e-06, 1.20833e-06, 5.93333e-07 kg m2 - "
            "accepted: finite numbers of at least 1e-15"
        )
