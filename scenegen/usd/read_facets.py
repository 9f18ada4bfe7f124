"""Facets of a scenario from the prims of a composed stage; each function is the inverse of one in `*_prims`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from pxr import UsdGeom, UsdShade

from scenegen.optical import Pattern, Stain
from scenegen.scenario import (
    Camera,
    Cameras,
    CameraSensor,
    FixturePose,
    Item,
    ItemMatter,
    Matter,
    Motion,
    Sensor,
    Surface,
    Surfaces,
    Task,
)
from scenegen.usd.camera_prims import BALANCE, BLUR, DISTORTION, FAULTS, FOCAL, NOISE, PRINCIPAL, RESOLUTION, film
from scenegen.usd.item_prims import FIXTURE_ORDER, MATTER_ORDER, SURFACE_ORDER
from scenegen.usd.part_file import look_of
from scenegen.usd.part_prims import COLLIDERS, CONTENT, MESH, PART
from scenegen.usd.poses import pose_of
from scenegen.usd.shared_prims import (
    PATTERN_ANGLE,
    PATTERN_COLOR,
    PATTERN_KIND,
    PATTERN_SIZE,
    SHADER,
    STAIN_COLOR,
    STAIN_METALLIC,
    STAIN_PATCH,
    STAIN_PHASE,
    STAIN_ROUGHNESS,
    STAIN_SHARE,
)
from scenegen.usd.stage import PrimView


def read_items(items: PrimView) -> tuple[Item, ...]:
    """Read what lies where."""
    return tuple(_item(view) for view in items.children())


def part_and_content(item: PrimView) -> tuple[str, str]:
    """Return the id and content id of the part that an item references."""
    for name in (PART, CONTENT):
        if not item.has(name):
            raise item.fail(f"is no scenegen part ({name} is missing) - accepted: references to a part's asset file")
    return item.text(PART), item.text(CONTENT)


def read_fixtures(fixtures: PrimView, names: Iterable[str]) -> tuple[FixturePose, ...]:
    """Read where feed and bins stand."""
    ordered = _order(fixtures, FIXTURE_ORDER, tuple(names))
    return tuple(FixturePose(name=name, pose_to_world=pose_of(fixtures.child(name))) for name in ordered)


def read_matter(items: PrimView) -> Matter:
    """Read masses and friction of the items."""
    views = {view.name: view for view in items.children()}
    return Matter(items=tuple(_matter(views[name]) for name in _order(items, MATTER_ORDER, tuple(views))))


def read_surfaces(world: PrimView, fixtures: Iterable[str]) -> Surfaces:
    """Read the looks of table, fixtures and items from the materials that are bound to them."""
    items = world.child("Items")
    shapes = {"table": world.child("Cell").child("table")}
    shapes |= {name: world.child("Fixtures").child(name).child("floor") for name in fixtures}
    shapes |= {view.name: view.child(MESH) for view in items.children()}
    found: dict[str, Surface] = {}
    surfaces = []
    for subject in _order(items, SURFACE_ORDER, tuple(shapes)):
        shader = _bound_shader(shapes[subject])
        known = found.get(shader.path)
        if known is None:
            known = found[shader.path] = _surface(shader, subject)
        surfaces.append(known if known.subject == subject else known.replaced(subject=subject))
    return Surfaces(surfaces=tuple(surfaces))


def read_cameras(cameras: PrimView) -> tuple[Cameras, Sensor]:
    """Read all cameras and their sensors."""
    views = cameras.children()
    if not views:
        raise cameras.fail("holds no camera - at least one is required")
    sensors = Sensor(sensors=tuple(_sensor(view) for view in views))
    with cameras.building():
        return Cameras.from_data({"cameras": [_camera(view) for view in views]}), sensors


def read_motion(motion: PrimView) -> Motion:
    """Read what moves by itself at the start."""
    with motion.building():
        return Motion.from_data(
            {
                "robot_start_rad": motion.numbers("scenegen:robotStartRad"),
                "vibration_amplitude_m": motion.number("scenegen:vibrationAmplitudeM"),
                "vibration_frequency_hz": motion.number("scenegen:vibrationFrequencyHz"),
                "vibration_direction": motion.vector("scenegen:vibrationDirection", 3),
                "belt_speed_m_s": motion.number("scenegen:beltSpeedMS"),
            }
        )


def read_task(task: PrimView) -> Task:
    """Read what the robot is asked to do."""
    matches, bins = task.texts("scenegen:ruleMatches"), task.texts("scenegen:ruleBins")
    if len(matches) != len(bins):
        raise task.fail(f"scenegen:ruleBins has {len(bins)} entries - accepted: one a match ({len(matches)})")
    with task.building():
        return Task.from_data(
            {
                "rules": [{"match": match, "bin": one} for match, one in zip(matches, bins, strict=True)],
                "instruction": task.text("scenegen:instruction"),
                "language": task.text("scenegen:language"),
            }
        )


def _order(view: PrimView, attribute: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the recorded order of names; names that were added since come last, removed ones are left out."""
    if not view.has(attribute):
        return names
    recorded = tuple(name for name in view.texts(attribute) if name in names)
    return (*recorded, *(name for name in names if name not in recorded))


def _item(view: PrimView) -> Item:
    part, _ = part_and_content(view)
    if UsdGeom.Imageable(view.prim).GetVisibilityAttr().Get() == UsdGeom.Tokens.invisible:
        raise view.fail("is invisible but still there - deactivate or delete it to take it out of the scene")
    with view.building():
        return Item.from_data(
            {
                "name": view.name,
                "part": part,
                "zone": view.text("scenegen:zone"),
                "cause": view.text("scenegen:cause") if view.has("scenegen:cause") else "nominal",
                "pose_to_world": pose_of(view),
            }
        )


def _matter(view: PrimView) -> ItemMatter:
    collider = view.child(COLLIDERS).first()
    if collider is None:
        raise view.child(COLLIDERS).fail("holds no collider - at least one is required")
    material = _bound_material(collider, "physics")
    static, dynamic = material.number("physics:staticFriction"), material.number("physics:dynamicFriction")
    if static != dynamic:
        raise material.fail(
            f"physics:staticFriction {static:.6g} and physics:dynamicFriction {dynamic:.6g} differ"
            " - accepted: equal values, since the simulators know one sliding friction"
        )
    with view.building():
        return ItemMatter.from_data(
            {
                "name": view.name,
                "mass_kg": view.number("physics:mass"),
                "center_of_mass_m": view.vector("physics:centerOfMass", 3),
                "diagonal_inertia_kg_m2": view.vector("physics:diagonalInertia", 3),
                "principal_axes_xyzw": view.quat_xyzw("physics:principalAxes"),
                "friction": dynamic,
            }
        )


def _bound_material(shape: PrimView, purpose: str = "") -> PrimView:
    material, _ = UsdShade.MaterialBindingAPI(shape.prim).ComputeBoundMaterial(purpose)
    if not material:
        raise shape.fail(f"has no {'physics ' if purpose else ''}material - bind one")
    return PrimView(shape.file, material.GetPrim())


def _bound_shader(shape: PrimView) -> PrimView:
    material = _bound_material(shape)
    shader = material.find(SHADER)
    source = UsdShade.Material(material.prim).GetSurfaceOutput().GetConnectedSources()[0]
    if not source:
        raise material.fail("has no surface shader - accepted: a UsdPreviewSurface")
    prim = source[0].source.GetPrim()
    return shader if shader is not None and shader.prim == prim else PrimView(shape.file, prim)


def _surface(shader: PrimView, subject: str) -> Surface:
    stain = _stain(shader) if shader.has(STAIN_COLOR) else None
    pattern = _pattern(shader) if shader.has(PATTERN_KIND) else None
    return Surface(subject=subject, look=look_of(shader), stain=stain, pattern=pattern)


def _stain(shader: PrimView) -> Stain:
    with shader.building():
        return Stain.from_data(
            {
                "color": shader.vector(STAIN_COLOR, 3),
                "metallic": shader.number(STAIN_METALLIC),
                "roughness": shader.number(STAIN_ROUGHNESS),
                "share": shader.number(STAIN_SHARE),
                "patch_m": shader.number(STAIN_PATCH),
                "phase": shader.vector(STAIN_PHASE, 3),
            }
        )


def _pattern(shader: PrimView) -> Pattern:
    with shader.building():
        return Pattern.from_data(
            {
                "kind": shader.text(PATTERN_KIND),
                "color": shader.vector(PATTERN_COLOR, 3),
                "size_m": shader.number(PATTERN_SIZE),
                "angle_rad": shader.number(PATTERN_ANGLE),
            }
        )


def _camera(view: PrimView) -> Camera:
    if view.prim.GetTypeName() != "Camera":
        raise view.fail(f"is a {view.prim.GetTypeName() or 'prim without type'} - accepted: a Camera")
    width, height = (int(one) for one in view.vector(RESOLUTION, 2))
    distortion = view.numbers(DISTORTION) if view.has(DISTORTION) else (0.0,) * 5
    shared = {"name": view.name, "width_px": width, "height_px": height, "distortion": distortion}
    pose = pose_of(view)
    standard = {name: view.number(name) for name in ("focalLength", *_FILM)}
    with view.building():
        if view.has(FOCAL) and view.has(PRINCIPAL):
            exact = Camera.from_data(
                shared
                | {"focal_px": view.vector(FOCAL, 2), "principal_px": view.vector(PRINCIPAL, 2), "pose_to_world": pose}
            )
            if all(np.isclose(standard[name], value, rtol=1e-6, atol=1e-9) for name, value in film(exact).items()):
                return exact
        return Camera.from_data(shared | _pinhole(standard, width, height) | {"pose_to_world": pose})


_FILM = ("horizontalAperture", "verticalAperture", "horizontalApertureOffset", "verticalApertureOffset")


def _pinhole(standard: dict[str, float], width: int, height: int) -> dict[str, tuple[float, float]]:
    """Turn a film into intrinsics [px]: what somebody set with another tool."""
    focal = standard["focalLength"]
    across, down, right, up = (standard[name] for name in _FILM)
    return {
        "focal_px": (focal / across * width, focal / down * height),
        "principal_px": (width * (0.5 - right / across), height * (0.5 + up / down)),
    }


def _sensor(view: PrimView) -> CameraSensor:
    exact = {"white_balance_k": BALANCE, "blur_px": BLUR, "snr_db": NOISE, **FAULTS}
    with view.building():
        return CameraSensor.from_data(
            {"camera": view.name, "exposure_ev": view.number("exposure")}
            | {field: view.number(name) for field, name in exact.items() if view.has(name)}
        )
