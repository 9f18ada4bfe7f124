"""Planted defects of everything but the layout: matter, motion, looks, light, cameras, sensors, rules, instruction."""

from __future__ import annotations

import numpy as np

from scenegen.axes.items import targets_in
from scenegen.geometry import Pose, quat_about, quat_multiply
from scenegen.optical import Pattern, PatternKind, Stain
from scenegen.record import quantise
from scenegen.scenario import (
    Asset,
    Camera,
    Cameras,
    CameraSensor,
    DistantLight,
    ItemMatter,
    Lights,
    Matter,
    Motion,
    Scenario,
    Sensor,
    SortRule,
    Surface,
    Surfaces,
    Task,
)
from validators.check import CheckContext
from validators.defect import Defect


def _entry(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> ItemMatter:
    """Draw the mass entry of a target in the feed."""
    names = {item.name for item in targets_in(scenario, ctx.cell)}
    entries = [entry for entry in scenario.matter.items if entry.name in names]
    return entries[int(rng.integers(len(entries)))]


def _with_entry(scenario: Scenario, old: ItemMatter, **fields: object) -> Scenario:
    new = ItemMatter(**{**{name: getattr(old, name) for name in ItemMatter.model_fields}, **fields})
    entries = tuple(new if entry.name == old.name else entry for entry in scenario.matter.items)
    return scenario.varied(matter=Matter(items=entries))


def _heavy(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    entry = _entry(scenario, ctx, rng)
    factor = float(np.exp(rng.choice([-1.0, 1.0]) * rng.uniform(np.log(4), np.log(40))))
    moments = tuple(moment * factor for moment in entry.diagonal_inertia_kg_m2)
    return _with_entry(scenario, entry, mass_kg=entry.mass_kg * factor, diagonal_inertia_kg_m2=moments)


def _nan_mass(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Read a scene with a mass that is not a number, as an edited file would have it."""
    data = scenario.model_dump(mode="json")
    data["matter"]["items"][int(rng.integers(len(data["matter"]["items"])))]["mass_kg"] = float("nan")
    return Scenario.from_data(data)


def _no_entry(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    gone = _entry(scenario, ctx, rng).name
    return scenario.varied(matter=Matter(items=tuple(e for e in scenario.matter.items if e.name != gone)))


def _impossible_inertia(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    entry = _entry(scenario, ctx, rng)
    moments = sorted(entry.diagonal_inertia_kg_m2)
    moments[2] = (moments[0] + moments[1]) * rng.uniform(1.5, 10)
    return _with_entry(scenario, entry, diagonal_inertia_kg_m2=tuple(moments))


def _motion(scenario: Scenario, **fields: object) -> Scenario:
    old = {name: getattr(scenario.motion, name) for name in Motion.model_fields}
    return scenario.varied(motion=Motion(**{**old, **fields}))


def _joint(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    index = int(rng.integers(len(ctx.cell.robot.joints)))
    joint = ctx.cell.robot.joints[index]
    beyond = rng.uniform(0.05, 0.5)
    angles = list(scenario.motion.robot_start_rad)
    angles[index] = joint.upper_rad + beyond if rng.random() < 0.5 else joint.lower_rad - beyond
    return _motion(scenario, robot_start_rad=tuple(angles))


def _earthquake(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    return _motion(scenario, vibration_amplitude_m=rng.uniform(0.01, 0.1), vibration_frequency_hz=10.0)


def _asset(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Name another content for a part: the file was exchanged."""
    index = int(rng.integers(len(scenario.assets)))
    other = Asset(part=scenario.assets[index].part, content="0" * 24)
    assets = tuple(other if i == index else asset for i, asset in enumerate(scenario.assets))
    return scenario.model_copy(update={"assets": assets})


def _other_cell(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    return scenario.model_copy(update={"cell_id": "f" * 24})


def _swapped_bins(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Exchange the looks of two bins that differ in colour."""
    looks = {surface.subject: surface.look for surface in scenario.surfaces.surfaces}
    names = [box.name for box in ctx.cell.bins]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if looks[a].color != looks[b].color]
    if not pairs:
        return None
    a, b = pairs[int(rng.integers(len(pairs)))]
    swapped = {**looks, a: looks[b], b: looks[a]}
    return scenario.varied(surfaces=Surfaces(surfaces=tuple(Surface(subject=n, look=k) for n, k in swapped.items())))


def _no_surface(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    gone = int(rng.integers(len(scenario.surfaces.surfaces)))
    left = tuple(s for i, s in enumerate(scenario.surfaces.surfaces) if i != gone)
    return scenario.varied(surfaces=Surfaces(surfaces=left))


def _look_changed(scenario: Scenario, subject: str, **fields: object) -> Scenario:
    """Replace fields of one thing's surface; a colour goes to its look."""
    changed = tuple(
        s.replaced(**{"look": s.look.replaced(color=fields["color"])} if "color" in fields else fields)
        if s.subject == subject
        else s
        for s in scenario.surfaces.surfaces
    )
    return scenario.varied(surfaces=Surfaces(surfaces=changed))


def _garish(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Paint a target magenta, or cover it with tar."""
    subject = _entry(scenario, ctx, rng).name
    if rng.random() < 0.5:
        return _look_changed(scenario, subject, color=(rng.uniform(0.7, 1.0), 0.0, rng.uniform(0.7, 1.0)))
    tar = Stain(color=(0.0, 0.0, 0.0), roughness=0.1, share=rng.uniform(0.95, 1.0), patch_m=0.005)
    return _look_changed(scenario, subject, stain=tar)


def _patterned(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    pattern = Pattern(kind=PatternKind.CHECKER, color=(0.5, 0.5, 0.5), size_m=rng.uniform(0.002, 0.01))
    return _look_changed(scenario, _entry(scenario, ctx, rng).name, pattern=pattern)


def _loud(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Give table or feed a pattern of nearly black and white, or one as fine as dust."""
    subject = ("table", "feed")[int(rng.integers(2))]
    kind = tuple(PatternKind)[int(rng.integers(len(PatternKind)))]
    if rng.random() < 0.5:
        plain = next(s.look.color for s in scenario.surfaces.surfaces if s.subject == subject)
        dust = Pattern(kind=kind, color=plain, size_m=rng.uniform(1e-6, 2e-4))
        return _look_changed(scenario, subject, pattern=dust)
    white, black = rng.uniform(0.7, 1.0, 3).tolist(), rng.uniform(0.0, 0.02, 3).tolist()
    pale = _look_changed(scenario, subject, color=tuple(white))
    return _look_changed(pale, subject, pattern=Pattern(kind=kind, color=tuple(black), size_m=0.03))


def _glaring(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Make the key light far stronger or weaker than the plant's."""
    factor = float(rng.choice([rng.uniform(0.01, 0.2), rng.uniform(4, 50)]))
    key = scenario.lights.lights[0]
    field = "illuminance_lux" if isinstance(key, DistantLight) else "luminance_nit"
    lit = key.model_copy(update={field: quantise(getattr(key, field) * factor)})
    lights = (lit, *scenario.lights.lights[1:])
    return scenario.varied(lights=Lights(lights=lights, shadow_casters=scenario.lights.shadow_casters))


def _dark(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    return scenario.varied(lights=Lights(lights=()))


def _looking_away(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Turn a fixed camera away from the feed."""
    fixed = {camera.name for camera in ctx.cell.cameras if camera.mount == "world"}
    chosen = next((camera for camera in scenario.cameras.cameras if camera.name in fixed), None)
    if chosen is None:
        return None
    angle = rng.uniform(0, 2 * np.pi)
    turn = quat_about(np.array([np.cos(angle), np.sin(angle), 0.0]), rng.uniform(0.5, 1.5))
    pose = Pose.of(chosen.pose_to_world.position, quat_multiply(turn, chosen.pose_to_world.quat))
    turned = Camera(**{**{name: getattr(chosen, name) for name in Camera.model_fields}, "pose_to_world": pose})
    cameras = tuple(turned if camera.name == chosen.name else camera for camera in scenario.cameras.cameras)
    return scenario.varied(cameras=Cameras(cameras=cameras))


def _blind(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Overexpose a camera by many stops, or leave it without a sensor."""
    sensors = scenario.sensor.sensors
    if rng.random() < 0.5:
        return scenario.varied(sensor=Sensor(sensors=sensors[1:]))
    burnt = CameraSensor(camera=sensors[0].camera, exposure_ev=rng.choice([-1.0, 1.0]) * rng.uniform(7, 12))
    return scenario.varied(sensor=Sensor(sensors=(burnt, *sensors[1:])))


def _dirty_lens(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Fog a camera's lens, cover all but its middle, or shake the camera."""
    field, low, high = (("veil_share", 0.6, 1.0), ("vignetting", 0.97, 1.0), ("motion_px", 25.0, 80.0))[
        int(rng.integers(3))
    ]
    first, *others = scenario.sensor.sensors
    return scenario.varied(sensor=Sensor(sensors=(first.replaced(**{field: rng.uniform(low, high)}), *others)))


def _task(scenario: Scenario, **fields: object) -> Scenario:
    old = {name: getattr(scenario.task, name) for name in Task.model_fields}
    return scenario.varied(task=Task(**{**old, **fields}))


def _ruled_part(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> str:
    """Draw a part of which a target is present."""
    present = sorted({item.part for item in targets_in(scenario, ctx.cell)})
    return present[int(rng.integers(len(present)))]


def _two_rules(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Add a rule for the class of a part that has its own rule already."""
    part = _ruled_part(scenario, ctx, rng)
    box = ctx.cell.bins[int(rng.integers(len(ctx.cell.bins)))].name
    match = ctx.labels[part] if rng.random() < 0.5 else part
    return _task(scenario, rules=(*scenario.task.rules, SortRule(match=match, bin=box)))


def _no_rule(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    part = _ruled_part(scenario, ctx, rng)
    rules = tuple(rule for rule in scenario.task.rules if rule.match not in (part, ctx.labels[part]))
    return _task(scenario, rules=rules, instruction="Sort the parts.") if rules else None


def _lost_bin(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    rules = (scenario.task.rules[0].model_copy(update={"bin": "bin_z"}), *scenario.task.rules[1:])
    return _task(scenario, rules=rules)


def _leaked(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Append what only the generator knows to the instruction."""
    leaks = (
        f"seed {int(rng.integers(1000))}",
        scenario.id,
        scenario.layout.items[0].name,
        f"level {int(rng.integers(1, 6))}",
        f"{scenario.id[:6]}.usda",
        "{parts}",
    )
    return _task(scenario, instruction=f"{scenario.task.instruction} ({leaks[int(rng.integers(len(leaks)))]})")


def _missing_bin(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    labels = {box.label for box in ctx.cell.bins}
    spare = [letter for letter in "QXYZ" if letter not in labels]
    letter = spare[int(rng.integers(len(spare)))]
    return _task(scenario, instruction=f"{scenario.task.instruction} Put the rest into bin {letter}.")


def _missing_class(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Speak of a kind of part that the cell does not have."""
    classes = " ".join(ctx.labels.values())
    words = [word for word in ("gear", "bearing", "spring", "bushing", "flange") if word not in classes]
    if not words:
        return None
    return _task(scenario, instruction=f"Put the {words[int(rng.integers(len(words)))]}s first, then sort the rest.")


def _contradiction(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Exchange the bins of two rules, but not in the instruction."""
    named = [rule for rule in scenario.task.rules if any(i.part == rule.match for i in scenario.layout.items)]
    pairs = [(a, b) for i, a in enumerate(named) for b in named[i + 1 :] if a.bin != b.bin]
    if not pairs:
        return None
    a, b = pairs[int(rng.integers(len(pairs)))]
    swap = {a.match: b.bin, b.match: a.bin}
    rules = tuple(rule.model_copy(update={"bin": swap.get(rule.match, rule.bin)}) for rule in scenario.task.rules)
    return _task(scenario, rules=rules)


FACET_DEFECTS: tuple[Defect, ...] = (
    Defect("mass_out_of_range", "spec_matter", "a target is 4 to 40 times too heavy or too light", _heavy),
    Defect("nan_mass", "record", "a mass is not a number", _nan_mass),
    Defect("missing_matter", "spec_matter", "a target has no mass entry", _no_entry),
    Defect("impossible_inertia", "spec_matter", "principal moments break the triangle inequality", _impossible_inertia),
    Defect("joint_limit", "spec_motion", "a joint starts beyond its limit", _joint),
    Defect("earthquake", "spec_motion", "the table shakes by 10 to 100 mm", _earthquake),
    Defect("exchanged_asset", "spec_cell", "a part file has another content", _asset),
    Defect("other_cell", "spec_cell", "the scene belongs to another cell", _other_cell),
    Defect("bin_colours_swapped", "bin_looks", "two bins have each other's colour", _swapped_bins),
    Defect("missing_surface", "spec_surfaces", "one thing has no surface", _no_surface),
    Defect("garish_part", "spec_surfaces", "a target is magenta, or covered with tar", _garish),
    Defect("patterned_part", "spec_surfaces", "a target is chequered", _patterned),
    Defect(
        "loud_ground", "spec_surfaces", "table or feed have a black and white pattern, or one as fine as dust", _loud
    ),
    Defect("light_out_of_envelope", "spec_lights", "the key light is far too strong or too weak", _glaring),
    Defect("dark", "spec_lights", "no light shines", _dark),
    Defect("camera_looks_away", "spec_cameras", "a fixed camera is turned by 30 to 85 degrees", _looking_away),
    Defect("blind_camera", "spec_sensor", "a camera is overexposed or has no sensor", _blind),
    Defect("dirty_lens", "spec_sensor", "a lens is fogged or covered, or a camera is shaken", _dirty_lens),
    Defect("two_rules", "sort_rule", "two rules match one part", _two_rules),
    Defect("no_rule", "sort_rule", "no rule matches a part that is present", _no_rule),
    Defect("rule_without_bin", "spec_task", "a rule names a bin that the cell does not have", _lost_bin),
    Defect("leak", "leak", "the instruction tells seed, id, slot, level, file or template field", _leaked),
    Defect("instruction_missing_bin", "instruction", "the instruction names a bin that is not there", _missing_bin),
    Defect(
        "instruction_missing_class", "instruction", "the instruction names parts that are not there", _missing_class
    ),
    Defect("instruction_contradicts", "instruction", "rules and instruction exchange two bins", _contradiction),
)
"""Defects of the other facets."""
