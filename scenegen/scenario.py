"""One concrete scene: eight facets with explicit values, hashed one by one; it replays without its generator."""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property
from operator import not_
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from scenegen.facet import FACETS, Asset, Facet, frame_key, scenario_frame
from scenegen.geometry import Pose, Quat, Vec2, Vec3
from scenegen.optical import Color, Pattern, Stain, mixed
from scenegen.record import Name, NonNegative, Positive, Real, Record, Share, Text


class Cause(StrEnum):
    """Why an item is where it is, as it would happen in a plant."""

    NOMINAL = "nominal"
    JOSTLED = "jostled"
    LEANING = "leaning"
    PILED = "piled"
    MISFEED = "misfeed"
    MIXED_LOT = "mixed_lot"
    FOREIGN_OBJECT = "foreign_object"
    OBSTRUCTION = "obstruction"


class Item(Record):
    """One part, foreign part or occluder at rest."""

    name: Name
    """The simulator slot that it occupies, `<part>_<index>`."""
    part: Name
    zone: Name
    """Where it lies: `feed`, `table` or a bin's name."""
    cause: Cause = Cause.NOMINAL
    pose_to_world: Pose


class FixturePose(Record):
    """Where a fixture really stands in this scene."""

    name: Name
    """`feed` or a bin's name."""
    pose_to_world: Pose


class Layout(Record):
    """What rests where: rest poses, as the settle left them."""

    fixtures: tuple[FixturePose, ...]
    items: Annotated[tuple[Item, ...], Field(max_length=32)]

    @model_validator(mode="after")
    def _unique_names(self) -> Self:
        names = [item.name for item in self.items]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"items: name {name!r} is used twice - accepted: each slot once")
        return self


class ItemMatter(Record):
    """Mass and friction of one item."""

    name: Name
    mass_kg: Positive
    center_of_mass_m: Vec3
    """Centre of mass in the part's frame [m]."""
    diagonal_inertia_kg_m2: tuple[Positive, Positive, Positive]
    """Principal moments about the centre of mass [kg m²]."""
    principal_axes_xyzw: Quat
    """Rotation of the principal axes in the part's frame."""
    friction: NonNegative
    """Sliding friction coefficient."""


class Matter(Record):
    """Masses and friction of the items."""

    items: tuple[ItemMatter, ...]


class Motion(Record):
    """What moves by itself at the start."""

    robot_start_rad: tuple[Real, ...]
    """Joint angles at the start [rad]."""
    vibration_amplitude_m: NonNegative = 0.0
    """Amplitude of the table's sinusoidal shaking along `vibration_direction` [m]."""
    vibration_frequency_hz: NonNegative = 0.0
    vibration_direction: Vec3 = (1.0, 0.0, 0.0)
    belt_speed_m_s: Real = 0.0


class Look(Record):
    """A metallic-roughness surface (UsdPreviewSurface)."""

    color: Color
    """Base colour, linear RGB."""
    metallic: Share = 0.0
    roughness: Annotated[Real, Field(ge=0.02, le=1)] = 0.5


class Surface(Record):
    """The look of one item or fixture."""

    subject: Name
    """An item's name, `table`, `feed` or a bin's name."""
    look: Look
    stain: Stain | None = Field(default=None, exclude_if=not_)
    """Patches over it; none on a clean surface."""
    pattern: Pattern | None = Field(default=None, exclude_if=not_)
    """A second colour of a table, feed or bin; none on a plain surface."""

    @property
    def mean_color(self) -> Color:
        """Mean base colour, linear RGB: pattern and stain by the shares that they cover."""
        color = self.look.color
        if self.pattern is not None:
            color = mixed(color, self.pattern.color, self.pattern.second_share)
        return color if self.stain is None else mixed(color, self.stain.color, self.stain.share)


class Surfaces(Record):
    """Looks of all items and fixtures."""

    surfaces: tuple[Surface, ...]


class DistantLight(Record):
    """Light from one direction, as through a hall's roof."""

    kind: Literal["distant"] = "distant"
    name: Name
    illuminance_lux: NonNegative
    """Illuminance on a plane facing the light [lx]."""
    temperature_k: Annotated[Real, Field(ge=1000, le=20000)] = 6500.0
    angle_rad: NonNegative = 0.01
    """Angular diameter [rad]; wider light casts softer shadows."""
    quat_xyzw: Quat
    """Orientation; the light shines along its -Z."""


class RectLight(Record):
    """A rectangular panel that shines along its -Z."""

    kind: Literal["rect"] = "rect"
    name: Name
    luminance_nit: NonNegative
    """Luminance of the panel [cd/m²]."""
    temperature_k: Annotated[Real, Field(ge=1000, le=20000)] = 6500.0
    size_m: tuple[Positive, Positive]
    """Width along X, height along Y [m]."""
    pose_to_world: Pose


class SphereLight(Record):
    """A lamp that shines to all sides."""

    kind: Literal["sphere"] = "sphere"
    name: Name
    luminance_nit: NonNegative
    temperature_k: Annotated[Real, Field(ge=1000, le=20000)] = 6500.0
    radius_m: Positive
    position_m: Vec3


class DomeLight(Record):
    """Even light from all around: the hall's walls and ceiling."""

    kind: Literal["dome"] = "dome"
    name: Name
    luminance_nit: NonNegative
    """Luminance of the surroundings [cd/m²]; a plane receives π times as many lux."""
    temperature_k: Annotated[Real, Field(ge=1000, le=20000)] = 6500.0


Light = Annotated[DistantLight | RectLight | SphereLight | DomeLight, Field(discriminator="kind")]


class ShadowCaster(Record):
    """A thin card outside every camera's view whose shadow falls into the scene."""

    name: Name
    size_m: tuple[Positive, Positive]
    pose_to_world: Pose


class Lights(Record):
    """All lights and what shades them."""

    lights: Annotated[tuple[Light, ...], Field(max_length=24)]
    shadow_casters: Annotated[tuple[ShadowCaster, ...], Field(max_length=8)] = ()


class Camera(Record):
    """One camera in this scene; it looks along its -Z, +Y is up."""

    name: Name
    pose_to_world: Pose
    """Pose at the start (a wrist camera moves with the robot)."""
    width_px: Annotated[int, Field(ge=16, le=8192)]
    height_px: Annotated[int, Field(ge=16, le=8192)]
    focal_px: Vec2
    principal_px: Vec2
    distortion: tuple[Real, Real, Real, Real, Real]
    """Brown-Conrady coefficients k1, k2, p1, p2, k3."""


class Cameras(Record):
    """All cameras."""

    cameras: Annotated[tuple[Camera, ...], Field(min_length=1, max_length=8)]


class CameraSensor(Record):
    """How one camera turns light into numbers."""

    camera: Name
    exposure_ev: Real = 0.0
    """Exposure relative to the nominal one [EV]."""
    white_balance_k: Annotated[Real, Field(ge=1000, le=20000)] = 6500.0
    blur_px: NonNegative = 0.0
    """Standard deviation of the lens blur [px]."""
    snr_db: Annotated[Real, Field(ge=0, le=80)] = 40.0
    """Signal-to-noise ratio at mid grey [dB]."""
    veil_share: Share = Field(default=0.0, exclude_if=not_)
    """Share of the light that lens and dust spread over the whole image (veiling glare)."""
    vignetting: Share = Field(default=0.0, exclude_if=not_)
    """Share of the light that is lost in the image's corners; in its middle none is."""
    motion_px: NonNegative = Field(default=0.0, exclude_if=not_)
    """Length of the blur of motion during the exposure [px]."""
    motion_rad: Real = Field(default=0.0, exclude_if=not_)
    """Its direction in the image, from the X axis (right) toward Y (down) [rad]."""


class Sensor(Record):
    """All sensors, one a camera."""

    sensors: tuple[CameraSensor, ...]


class SortRule(Record):
    """What goes where."""

    match: Name
    """A part's id, or a semantic class."""
    bin: Name


class Task(Record):
    """What the robot is asked to do."""

    rules: Annotated[tuple[SortRule, ...], Field(min_length=1)]
    instruction: Text
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")] = "en"
    """Two-letter code of the instruction's language (ISO 639-1)."""


class Scenario(Record):
    """One concrete scene of a cell.

    `id` is the hash of the cell, the assets and the eight facets. What depends on some facets only is cached by their
    hashes (`key`).
    """

    cell_id: str
    assets: tuple[Asset, ...]
    layout: Layout
    matter: Matter
    motion: Motion
    surfaces: Surfaces
    lights: Lights
    cameras: Cameras
    sensor: Sensor
    task: Task

    @cached_property
    def id(self) -> str:
        """The scenario's content id."""
        return self.key(*FACETS)

    @property
    def facet_ids(self) -> dict[Facet, str]:
        """Content id of each facet."""
        return {facet: self.facet(facet).content_id for facet in FACETS}

    def facet(self, facet: Facet) -> Record:
        """Return one facet's record."""
        return getattr(self, facet)

    def key(self, *facets: Facet) -> str:
        """Hash cell, assets and the named facets: the cache key of what depends on nothing else."""
        known = self._keys.get(facets)
        if known is None:
            known = self._keys[facets] = frame_key(
                self._frame, {facet: self.facet(facet).content_id for facet in facets}
            )
        return known

    @cached_property
    def _frame(self) -> str:
        """What every key hashes besides facets: format, cell and assets."""
        return scenario_frame(self.cell_id, self.assets)

    @cached_property
    def _keys(self) -> dict[tuple[Facet, ...], str]:
        """Keys that were asked for."""
        return {}

    def varied(self, **facets: Record) -> Scenario:
        """Return a copy with some facets replaced, by field name; keys of other facets alone stay as they are."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        made = Scenario(**{**fields, **facets})
        if made._frame == self._frame:
            made._keys.update((key, known) for key, known in self._keys.items() if facets.keys().isdisjoint(key))
        return made

    def changed(self, other: Scenario) -> frozenset[Facet]:
        """Name the facets in which the two scenarios differ."""
        pairs = ((facet, self.facet(facet), other.facet(facet)) for facet in FACETS)
        return frozenset(f for f, mine, theirs in pairs if mine is not theirs and mine.content_id != theirs.content_id)

    def item(self, name: str) -> Item:
        """Return the item of that name.

        Raises:
            KeyError: No item has that name.
        """
        for item in self.layout.items:
            if item.name == name:
                return item
        raise KeyError(name)
