import sys

import numpy as np
import pytest
from scipy.stats import spearmanr

from scenegen.errors import MissingExtra
from scenegen.geometry import Pose, look_at
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.lamps import LUMINANCE, planckian_color
from scenegen.imaging.mask import MaskCaster
from scenegen.imaging.path_tracer import PathTracer, load_mitsuba, trace
from scenegen.imaging.photographer import Photographer
from scenegen.imaging.pinhole import project
from scenegen.imaging.render import Painter, enlarged
from scenegen.imaging.stage import Solid
from scenegen.optical import Pattern, PatternKind, Stain
from scenegen.scenario import (
    Camera,
    Cameras,
    DistantLight,
    DomeLight,
    Item,
    Layout,
    Lights,
    Look,
    RectLight,
    ShadowCaster,
    SphereLight,
    Surface,
    Surfaces,
)

WHITE = Look(color=(1.0, 1.0, 1.0), roughness=1.0)
BLACK = Look(color=(0.0, 0.0, 0.0), roughness=1.0)
PLANE = Solid.card((40.0, 40.0), Pose())
DOME = Lights(lights=(DomeLight(name="sky", luminance_nit=200),))


TILTED = (np.sin(np.pi / 12), 0.0, 0.0, np.cos(np.pi / 12))
"""Turned by 30 degrees about X."""
WITHOUT_MITSUBA = "test_without_its_extra_it_says_what_to_install"


@pytest.fixture(autouse=True)
def _mitsuba(request):
    if request.node.name != WITHOUT_MITSUBA:
        pytest.importorskip("mitsuba", reason="path tracing needs the extra `render`")


def camera_at(eye, target, *, px=16, focal=400.0, principal=None, distortion=(0.0,) * 5, focal_y=None):
    return Camera(
        name="eye",
        pose_to_world=look_at(eye, target),
        width_px=px,
        height_px=px,
        focal_px=(focal, focal_y or focal),
        principal_px=principal or (px / 2, px / 2),
        distortion=distortion,
    )


def white_plane(lights, *, spp=256):
    """Mean luminance by colour of a white plane's middle, seen from above."""
    camera = camera_at((0.0, 0.0, 0.5), (0.0, 0.0, 0.0))
    return trace([(WHITE, PLANE)], lights, camera, spp=spp).mean(axis=(0, 1))


def test_a_white_plane_under_a_dome_has_the_dome_s_luminance_and_color():
    seen = white_plane(DOME)
    assert seen @ LUMINANCE == pytest.approx(200, rel=0.08)
    assert seen / (seen @ LUMINANCE) == pytest.approx(planckian_color(6500.0), rel=1e-3)


def test_a_panel_gives_its_analytic_irradiance():
    """Luminance of a white plane is its illuminance / π; of the panel, a sum over fine patches (cos² / d² each)."""
    panel = RectLight(name="panel", luminance_nit=3000, size_m=(0.4, 0.2), pose_to_world=Pose(position_m=(0, 0, 1.0)))
    spots = (np.arange(200) + 0.5) / 200 - 0.5
    x, y = np.meshgrid(spots * 0.4, spots * 0.2)
    illuminance = 3000 * (0.4 * 0.2 * (x**2 + y**2 + 1.0) ** -2).mean()
    assert white_plane(Lights(lights=(panel,))) @ LUMINANCE == pytest.approx(illuminance / np.pi, rel=0.03)


def test_a_panel_shines_to_one_side():
    turned = Pose(position_m=(0.0, 0.0, 1.0), quat_xyzw=(1.0, 0.0, 0.0, 0.0))
    panel = RectLight(name="panel", luminance_nit=3000, size_m=(0.4, 0.2), pose_to_world=turned)
    assert white_plane(Lights(lights=(panel,)), spp=16).max() == 0


@pytest.mark.parametrize("angle_rad", [0.0, 0.05, 0.3])
def test_a_distant_light_gives_its_illuminance_whatever_its_width(angle_rad):
    sun = DistantLight(name="sun", illuminance_lux=1000, angle_rad=angle_rad, quat_xyzw=TILTED)
    seen = white_plane(Lights(lights=(sun,))) @ LUMINANCE
    assert seen == pytest.approx(1000 * np.cos(np.pi / 6) / np.pi, rel=0.03)


def test_a_sphere_gives_its_analytic_irradiance():
    lamp = SphereLight(name="lamp", luminance_nit=5000, radius_m=0.1, position_m=(0.0, 0.0, 1.0))
    assert white_plane(Lights(lights=(lamp,))) @ LUMINANCE == pytest.approx(5000 * 0.1**2, rel=0.03)


def test_a_card_casts_a_shadow():
    sun = DistantLight(name="sun", illuminance_lux=1000, angle_rad=0.0, quat_xyzw=(0.0, 0.0, 0.0, 1.0))
    card = ShadowCaster(name="card", size_m=(0.2, 0.2), pose_to_world=Pose(position_m=(0.0, 0.0, 0.8)))
    assert white_plane(Lights(lights=(sun,), shadow_casters=(card,)), spp=16).max() < 0.01 * 1000 / np.pi


@pytest.mark.parametrize(
    "lens",
    [
        {},
        {"principal": (20.3, 40.5)},
        {"principal": (27.0, 40.5), "focal_y": 110.0},
        {"distortion": (-0.3, 0.1, 0.01, -0.01, 0.0)},
    ],
    ids=["centred", "shifted", "oblong pixels", "distorted"],
)
def test_a_camera_sees_things_where_it_projects_them(lens):
    lamp = SphereLight(name="lamp", luminance_nit=1000, radius_m=0.02, position_m=(0.03, 0.05, 0.04))
    camera = camera_at((0.1, -0.6, 0.5), (0.0, 0.0, 0.0), px=64, focal=100.0, **lens)
    seen = trace([(BLACK, PLANE)], Lights(lights=(lamp,)), camera, spp=16)[..., 1]
    bright = np.where(seen > 300, seen, 0)
    rows, columns = np.indices(bright.shape) + 0.5
    centre = np.array([(bright * columns).sum(), (bright * rows).sum()]) / bright.sum()
    assert centre == pytest.approx(project(camera, np.array([lamp.position_m]))[0], abs=0.3)


def test_parts_are_ordered_by_luminance_as_the_painter_orders_them(cell, catalogue, base_scenario):
    camera = enlarged(base_scenario.cameras.cameras[0], 0.5)
    scenario = base_scenario.varied(
        cameras=base_scenario.cameras.model_copy(update={"cameras": (camera, *base_scenario.cameras.cameras[1:])})
    )
    truth = PathTracer(cell, catalogue).radiance(scenario, camera, spp=36) @ LUMINANCE
    quick = Painter(cell, catalogue).radiance(scenario, camera, oversampling=3) @ LUMINANCE
    mask, names = MaskCaster(cell, catalogue).instance_mask(scenario, camera.name)
    seen = [mask == index for index in range(len(names)) if (mask == index).sum() >= 12]
    assert len(seen) >= 8
    means = np.array([(truth[pixels].mean(), quick[pixels].mean()) for pixels in seen])
    assert spearmanr(*means.T).statistic > 0.8
    assert np.median(means[:, 1] / means[:, 0]) == pytest.approx(1.0, abs=0.25)


def test_a_pattern_and_a_stain_show_as_the_shaded_photo_shows_them(cell, catalogue, base_scenario):
    camera = enlarged(base_scenario.cameras.cameras[0], 0.5)
    checker = Pattern(kind=PatternKind.CHECKER, color=(0.7, 0.7, 0.7), size_m=0.03, angle_rad=0.4)
    rust = Stain(color=(0.26, 0.11, 0.045), roughness=0.9, share=0.5, patch_m=0.006)
    items = {item.name for item in base_scenario.layout.items}
    coats = {"feed": {"pattern": checker}, **{name: {"stain": rust} for name in items}}
    coated = tuple(one.replaced(**coats.get(one.subject, {})) for one in base_scenario.surfaces.surfaces)
    varied = base_scenario.varied(surfaces=Surfaces(surfaces=coated))
    tracer, photographer = PathTracer(cell, catalogue), Photographer(cell, catalogue)
    seen = varied.varied(cameras=Cameras(cameras=(camera,)))
    mask, names = MaskCaster(cell, catalogue).instance_mask(seen, camera.name)
    before, after = (tracer.picture(one, camera, spp=16).astype(float) for one in (base_scenario, varied))
    plain, coated = (photographer.picture(one, camera).astype(float) for one in (base_scenario, varied))
    for pixels in (mask == names.index("feed"), np.isin(mask, [names.index(name) for name in items])):
        traced, shaded = (after - before)[pixels], (coated - plain)[pixels]
        assert traced.std() > 15
        assert np.corrcoef(traced.ravel(), shaded.ravel())[0, 1] > 0.8


@pytest.mark.parametrize("light", ["nominal", "dome"])
def test_threads_are_as_bright_as_traced_ones(cell, catalogue, base_scenario, light):
    part, feed = catalogue["hex_bolt_m8x20"], cell.feed.pose_to_world
    rest = part.stable_poses[0]
    item = Item(
        name=f"{part.id}_0",
        part=part.id,
        zone="feed",
        pose_to_world=feed.after(Pose.of((0, 0, rest.height_m), rest.quat_xyzw)),
    )
    middle = item.pose_to_world.apply(part.mesh.vertices).mean(axis=0)
    camera = camera_at(middle + np.array([0.0, 0.01, 0.35]), middle, px=64, focal=600.0)
    gone = {one.name for one in base_scenario.layout.items}
    kept = [one for one in base_scenario.surfaces.surfaces if one.subject not in gone]
    steel = Surface(subject=item.name, look=Look(color=(0.56, 0.57, 0.58), metallic=1.0, roughness=0.3))
    scenario = base_scenario.varied(
        layout=Layout(fixtures=base_scenario.layout.fixtures, items=(item,)),
        surfaces=Surfaces(surfaces=(*kept, steel)),
        cameras=Cameras(cameras=(camera,)),
        lights=base_scenario.lights if light == "nominal" else DOME,
    )
    gbuffer = GBufferCaster.of(cell, catalogue).cast(scenario, camera.name)
    threads = gbuffer.plane((gbuffer.instance == 0) & (gbuffer.self_open < 0.9))[0]
    assert threads.sum() > 100
    traced = PathTracer(cell, catalogue).radiance(scenario, camera, spp=64)[threads] @ LUMINANCE
    shaded = Photographer(cell, catalogue).radiance(scenario, camera)[threads] @ LUMINANCE
    assert shaded.mean() == pytest.approx(traced.mean(), rel=0.2)


def test_pictures_are_repeatable_to_the_byte(cell, catalogue, base_scenario):
    camera = enlarged(base_scenario.cameras.cameras[0], 0.2)
    tracer = PathTracer(cell, catalogue)
    first = tracer.picture(base_scenario, camera, spp=4)
    assert first.shape == (camera.height_px, camera.width_px, 3)
    assert np.ptp(first) > 50
    assert (PathTracer(cell, catalogue).picture(base_scenario, camera, spp=4) == first).all()
    assert (
        tracer.radiance(base_scenario, camera, spp=4, seed=1) != tracer.radiance(base_scenario, camera, spp=4)
    ).any()


def test_without_its_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    with pytest.raises(MissingExtra) as error:
        load_mitsuba()
    assert str(error.value) == "path tracing needs the extra 'render' - run: pip install 'scenegen[render]'"
