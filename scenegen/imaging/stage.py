"""Follow rays through a scene: what they meet, what light arrives there, what goes back to the eye."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from scenegen.geometry import Array, Pose
from scenegen.imaging.coat import Coat
from scenegen.imaging.lamps import Floats, arrive, dome_luminance, level_illuminance
from scenegen.scenario import DomeLight, Lights, Look

SCALE = np.float32(100.0)
"""Embree sees centimetres, so that its 32-bit arithmetic resolves a part's edges."""
LIFT_M = np.float32(5e-5)
"""How far a secondary ray starts off its surface [m]."""
BOUNCE = np.float32(0.25)
"""Share of the mean illuminance that reaches a spot hidden from the surroundings, off the things around it."""
DIELECTRIC = 0.04
"""Mirror reflection of paint and plastic at normal incidence (refractive index 1.5)."""

_CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
_BOX = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
_BOX_NORMALS = np.array([[0, 0, -1], [0, 0, 1], [0, -1, 0], [0, 1, 0], [-1, 0, 0], [1, 0, 0]], float)


@dataclass(frozen=True, eq=False)
class Solid:
    """Triangles with shading normals, in the frame of what they belong to or in the world."""

    triangles: Array
    """Corners [m], shape [m, 3, 3]."""
    normals: Array
    """Unit normals at the corners, shape [m, 3, 3]."""

    def placed(self, pose: Pose) -> Solid:
        """Return the same solid in the frame to which the pose leads."""
        return Solid(pose.apply(self.triangles), self.normals @ pose.rotation.T)

    @classmethod
    def boxes(cls, corners_m: Array) -> Solid:
        """Build a solid of axis-aligned boxes, given by lower and upper corner [m], shape [n, 2, 3]."""
        quads = (corners_m[:, :1] + _CORNERS * (corners_m[:, 1:] - corners_m[:, :1]))[:, _BOX]
        triangles = np.stack([quads[..., [0, 1, 2], :], quads[..., [0, 2, 3], :]], axis=2)
        normals = np.broadcast_to(_BOX_NORMALS[:, None, None], triangles.shape)
        return cls(triangles.reshape(-1, 3, 3), normals.reshape(-1, 3, 3))

    @classmethod
    def card(cls, size_m: tuple[float, float], pose: Pose) -> Solid:
        """Build a thin card from its size along X and Y [m] and its pose."""
        x, y = size_m[0] / 2, size_m[1] / 2
        corners = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
        normals = np.broadcast_to([0.0, 0.0, 1.0], (2, 3, 3))
        return cls(corners[[[0, 1, 2], [0, 2, 3]]], normals).placed(pose)


@dataclass(frozen=True, eq=False)
class _Hits:
    """Where some rays met a surface, and what that surface is like; one row a ray."""

    points: Floats
    normals: Floats
    """Unit normals toward the viewer."""
    views: Floats
    """Unit directions of the rays."""
    draws: Floats
    color: Floats
    metallic: Floats
    roughness: Floats

    @cached_property
    def starts(self) -> Floats:
        """Points from which secondary rays start."""
        return self.points + self.normals * LIFT_M

    @cached_property
    def scattered(self) -> Floats:
        """Share of the illuminance that goes to each side as luminance [1/sr]."""
        return self.color * ((1 - self.metallic) / np.float32(np.pi))

    @cached_property
    def mirror(self) -> Floats:
        """Reflectance at normal incidence that mirrors."""
        return DIELECTRIC * (1 - self.metallic) + self.color * self.metallic

    def at(self, rows: NDArray[np.intp]) -> _Hits:
        """Choose some rows."""
        return _Hits(*(getattr(self, field.name)[rows] for field in fields(self)))


class Stage:
    """A scene ready for rays.

    Args:
        solids: What there is by name, world frame; names may repeat.
        lights: All lights and the cards that shade them.
        looks: A look for each name.
        coats: What has a pattern or a stain, by name.
    """

    def __init__(
        self,
        solids: Sequence[tuple[str, Solid]],
        lights: Lights,
        looks: Mapping[str, Look],
        coats: Mapping[str, Coat] | None = None,
    ) -> None:
        self._scene = _embree(solid.triangles for _, solid in solids)
        cards = [Solid.card(card.size_m, card.pose_to_world).triangles for card in lights.shadow_casters]
        self._shading = [self._scene, _embree(cards)] if cards else [self._scene]
        self._normals = single(np.concatenate([solid.normals for _, solid in solids]))
        self._subject = np.repeat(np.arange(len(solids)), [len(solid.triangles) for _, solid in solids])
        chosen = [looks[name] for name, _ in solids]
        self._coats = [(index, coats[name]) for index, (name, _) in enumerate(solids) if coats and name in coats]
        self._color = single([look.color for look in chosen])
        self._metallic = single([[look.metallic] for look in chosen])
        self._roughness = single([[look.roughness] for look in chosen])
        self._lamps = [light for light in lights.lights if not isinstance(light, DomeLight)]
        self._dome = dome_luminance(lights.lights)
        self._mean = level_illuminance(lights.lights, np.zeros(3)) / np.float32(np.pi)

    def radiance(self, origin: Floats, directions: Floats, draws: Floats) -> Floats:
        """Follow rays from a common origin and return what they see.

        Args:
            origin: Start [m], shape [3].
            directions: Directions of any length, shape [n, 3].
            draws: Two numbers in [0, 1) a ray, which choose spots on lights, shape [n, 2].

        Returns:
            Luminance by linear colour [cd/m²], shape [n, 3].
        """
        views = _unit(directions)
        found = self._cast(np.broadcast_to(origin, views.shape), views)
        rows = np.flatnonzero(found["primID"] >= 0)
        seen = self._backdrop(views)
        seen[rows] = self._shade(self._hits(origin, views[rows], {k: v[rows] for k, v in found.items()}, draws[rows]))
        return seen

    def _backdrop(self, directions: Floats) -> Floats:
        """Luminance of the hall beyond the table: brighter above than below."""
        return (0.35 + 0.65 * np.clip(0.5 + directions[:, 2:], 0, 1)) * self._dome

    def _hits(self, origin: Floats, views: Floats, found: Mapping[str, NDArray], draws: Floats) -> _Hits:
        face, u, v = found["primID"], found["u"][:, None], found["v"][:, None]
        corners, subject = self._normals[face], self._subject[face]
        normals = _unit(corners[:, 0] * (1 - u - v) + corners[:, 1] * u + corners[:, 2] * v)
        normals[_dot(normals, views)[:, 0] > 0] *= -1
        points = origin + views * (found["tfar"][:, None] / SCALE)
        color, metallic, roughness = self._color[subject], self._metallic[subject], self._roughness[subject]
        for index, coat in self._coats:
            rows = np.flatnonzero(subject == index)
            shown, metallic[rows, 0], roughness[rows, 0] = coat.looks(tuple(points[rows].T), xp=np)
            color[rows] = np.stack(shown, axis=-1)
        return _Hits(points, normals, views, draws, color, metallic, roughness)

    def _shade(self, hits: _Hits) -> Floats:
        total = hits.scattered * np.float32(np.pi) * self._ambient(hits)
        for index, lamp in enumerate(self._lamps):
            light = arrive(lamp, hits.points, np.modf(hits.draws + np.float32(0.381966 * (index + 1)))[0])
            facing = np.maximum(_dot(hits.normals, light.directions), 0)
            facing[self._blocked(hits.starts, light.directions, light.distances_m)] = 0
            total += (hits.scattered + _gloss(hits, light.directions)) * (light.illuminance * facing)
        metal = np.flatnonzero(hits.metallic[:, 0] > 0.5)
        if len(metal):
            total[metal] += self._mirrored(hits.at(metal))
        return total

    def _ambient(self, hits: _Hits) -> Floats:
        """Luminance from all around, one direction a point, drawn by the cosine law."""
        # The sum of the normal and a point of the unit sphere is distributed by the cosine law.
        directions = _unit(hits.normals + np.float32(0.999) * _sphere(hits.draws))
        return np.where(self._blocked(hits.starts, directions, None)[:, None], BOUNCE * self._mean, self._dome)

    def _mirrored(self, hits: _Hits) -> Floats:
        """Luminance that metal mirrors from things and surroundings (lamps: see `_gloss`), blurred by its roughness."""
        normals = _unit(hits.normals + np.float32(0.6) * hits.roughness**2 * _sphere(hits.draws[:, ::-1]))
        directions = hits.views - 2 * _dot(hits.views, normals) * normals
        found = self._cast(hits.starts, directions)["primID"]
        seen = self._backdrop(directions)
        met = found >= 0
        seen[met] = np.float32(0.6) * self._mean * self._color[self._subject[found[met]]]
        return hits.mirror * seen

    def _cast(self, origins: Floats, directions: Floats) -> dict[str, NDArray]:
        return self._scene.run(single(origins * SCALE), single(directions), output=True)

    def _blocked(self, starts: Floats, directions: Floats, distances_m: Floats | None) -> NDArray[np.bool_]:
        """Tell which rays meet something, at all or before they have gone so far."""
        blocked = np.zeros(len(starts), bool)
        if len(starts):
            limit = None if distances_m is None else single(distances_m * SCALE)
            for scene in self._shading:
                blocked |= scene.run(single(starts * SCALE), single(directions), query="OCCLUDED", dists=limit) >= 0
        return blocked


def single(values: object) -> Floats:
    """Return values as contiguous 32-bit floats."""
    return np.ascontiguousarray(values, np.float32)


def _gloss(hits: _Hits, lights: Floats) -> Floats:
    """Mirror reflection of a lamp by rough surfaces: GGX with Schlick's Fresnel term (Walter 2007; Karis 2013)."""
    half = _unit(lights - hits.views)
    n_light = np.maximum(_dot(hits.normals, lights), 1e-3)
    n_view = np.maximum(-_dot(hits.normals, hits.views), 1e-3)
    square = hits.roughness**4
    spread = square / (np.float32(np.pi) * (_dot(hits.normals, half) ** 2 * (square - 1) + 1) ** 2)
    k = (hits.roughness + 1) ** 2 / 8
    masking = 1 / (4 * (n_light * (1 - k) + k) * (n_view * (1 - k) + k))
    grazing = np.maximum(1 + _dot(hits.views, half), 0) ** 5
    return spread * masking * (hits.mirror + (1 - hits.mirror) * grazing)


def _embree(solids: Iterable[Array]) -> EmbreeScene:
    vertices = single(np.concatenate(list(solids)).reshape(-1, 3) * SCALE)
    scene = EmbreeScene()
    TriangleMesh(scene=scene, vertices=vertices, indices=np.arange(len(vertices), dtype=np.int32).reshape(-1, 3))
    return scene


def _dot(a: Floats, b: Floats) -> Floats:
    return np.einsum("ij,ij->i", a, b)[:, None]


def _unit(vectors: Floats) -> Floats:
    return vectors / np.sqrt(_dot(vectors, vectors))


def _sphere(draws: Floats) -> Floats:
    """Points of the unit sphere, uniform, shape [n, 3]."""
    height, angle = 2 * draws[:, 0] - 1, np.float32(2 * np.pi) * draws[:, 1]
    ring = np.sqrt(1 - height**2)
    return np.stack([ring * np.cos(angle), ring * np.sin(angle), height], axis=1)
