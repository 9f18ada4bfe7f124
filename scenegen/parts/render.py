"""A picture of a part as it lies on a bench: ray cast with a studio of soft lights, for people who browse parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from scenegen.geometry import Array, look_at, quat_to_matrix
from scenegen.parts.part import Mesh
from scenegen.parts.rays import MISS, Indices, Rays
from scenegen.scenario import Look

Picture = NDArray[np.uint8]
"""sRGB image, shape [height, width, 3]."""

OVERSAMPLING = 2
VIEW = np.array([0.62, -1.0, 0.82])
"""Direction from the part to the camera."""
FIELD_OF_VIEW_RAD = 0.24
SOFTBOXES = (
    ((-0.2, 0.75, 0.62), 0.34, 2.7),
    ((-0.9, -0.35, 0.42), 0.24, 2.6),
    ((1.0, -0.1, 0.3), 0.2, 2.4),
    ((0.35, -1.0, 0.12), 0.16, 1.5),
)
"""Studio lights: direction, angular radius [rad], brightness."""
BENCH = np.array([0.78, 0.785, 0.8])
SKY_SAMPLES = 16


def render_part(mesh: Mesh, look: Look, *, quat_xyzw: Sequence[float], size_px: int = 240) -> Picture:
    """Render a part lying on a bench.

    Args:
        mesh: The part's mesh.
        look: Its surface.
        quat_xyzw: How it lies, for example its likeliest resting pose.
        size_px: Width and height of the square picture [px].
    """
    rotation = quat_to_matrix(np.asarray(quat_xyzw, float))
    vertices = mesh.vertices @ rotation.T
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    vertices = (vertices - [*((low + high) / 2)[:2], low[2]]) / (np.linalg.norm(high - low) / 2)
    scene = _Scene(vertices, mesh, mesh.normals @ rotation.T, look)
    middle = np.array([0.0, 0.0, vertices[:, 2].max() / 2])
    camera = look_at(middle + VIEW / np.linalg.norm(VIEW) * 8.6, middle)
    count = size_px * OVERSAMPLING
    step = 2 * np.tan(FIELD_OF_VIEW_RAD / 2) / count
    columns, rows = np.meshgrid(np.arange(count), np.arange(count))
    local = np.stack(
        [(columns - count / 2 + 0.5) * step, (count / 2 - 0.5 - rows) * step, -np.ones_like(rows)], axis=-1
    )
    directions = local.reshape(-1, 3) @ camera.rotation.T
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    light = np.concatenate([scene.seen(camera.position, d) for d in np.array_split(directions, -(-len(local) // 64))])
    light = light.reshape(size_px, OVERSAMPLING, size_px, OVERSAMPLING, 3)
    return _to_srgb(np.minimum(light, 1.5).mean(axis=(1, 3)))


class _Scene:
    """A part on a bench in a studio, its size about two."""

    def __init__(self, vertices: Array, mesh: Mesh, normals: Array, look: Look) -> None:
        self._rays, self._look, self._normals = Rays(vertices, mesh.faces), look, normals
        self._corners = vertices[mesh.faces]
        index = np.arange(SKY_SAMPLES) + 0.5
        turn, height = index * np.pi * (1 + 5**0.5), np.sqrt(1 - index / SKY_SAMPLES)  # Fibonacci, cosine-weighted
        flat = np.sqrt(1 - height**2)
        self._dome = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), height])

    def seen(self, eye: Array, directions: Array) -> Array:
        """Light that comes from directions [n, 3] to the eye, linear RGB, shape [n, 3]."""
        distance, hit = self._rays.first(np.broadcast_to(eye, directions.shape), directions)
        light = np.empty_like(directions)
        part = hit != MISS
        points = eye + np.where(part, distance, 0)[:, None] * directions
        light[part] = self._part(points[part], hit[part], directions[part])
        ground = eye - eye[2] / directions[~part, 2:] * directions[~part]
        fade = np.exp(-0.05 * np.linalg.norm(ground, axis=1) ** 2)
        shade = self._open(ground, np.tile([0.0, 0.0, 1.0], (len(ground), 1)))
        light[~part] = BENCH * (fade * shade**1.6 * 0.9 + 0.06)[:, None]
        return light

    def _part(self, points: Array, hit: Indices, directions: Array) -> Array:
        weights = _barycentric(points, self._corners[hit])
        normals = np.einsum("nk,nkj->nj", weights, self._normals[hit])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        flat = self._rays.normals[hit]
        opening = self._open(points + 1e-3 * flat, flat)[:, None]
        facing = np.maximum(-np.einsum("ij,ij->i", directions, normals), 0)[:, None]
        mirror = directions + 2 * facing * normals
        color, metallic = np.array(self._look.color), self._look.metallic
        base = 0.04 * (1 - metallic) + color * metallic
        fresnel = base + (1 - base) * (1 - facing) ** 5 * (1 - self._look.roughness)
        diffuse = color * (1 - metallic) * _studio(normals, 1.0)
        specular = fresnel * _studio(mirror, self._look.roughness)
        return (diffuse + specular) * (0.15 + 0.85 * opening)

    def _open(self, points: Array, normals: Array) -> Array:
        """Share of the light dome over each point that the part leaves open, shape [n]."""
        noise = np.modf(np.abs(np.sin(np.arange(len(points)) * 12.9898) * 43758.5453))[0]
        turn = 2 * np.pi * noise  # another dome for each pixel: no banding
        cosine, sine = np.cos(turn)[:, None], np.sin(turn)[:, None]
        helper = np.where(np.abs(normals[:, :1]) > 0.9, [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]])
        first = np.cross(normals, helper)
        first /= np.linalg.norm(first, axis=1, keepdims=True)
        second = np.cross(normals, first)
        free = np.zeros(len(points))
        for x, y, z in self._dome:
            direction = (x * cosine - y * sine) * first + (x * sine + y * cosine) * second + z * normals
            distance, _ = self._rays.first(points + 1e-3 * normals, direction)
            free += np.isinf(distance) * np.where(direction[:, 2] > 0, 1.0, 0.55)
        return free / SKY_SAMPLES


def _studio(directions: Array, roughness: float) -> Array:
    """Brightness of the studio around a direction, blurred by a surface's roughness; shape [n, 1]."""
    blur = 0.08 + 0.9 * roughness
    height = directions[:, 2]
    swing = np.sin(2 * np.arctan2(directions[:, 1], directions[:, 0]) + 0.9) * np.sqrt(1 - np.minimum(height**2, 1))
    light = 0.36 + 0.2 * swing + 0.2 / (1 + np.exp(-height / (0.25 * blur + 0.04)))
    for direction, radius, brightness in SOFTBOXES:
        axis = np.array(direction) / np.linalg.norm(direction)
        angle = np.arccos(np.clip(directions @ axis, -1, 1))
        spread = radius + blur
        edge = 1 / (1 + np.exp((angle - radius) / (0.12 * blur + 0.01) * 0.35))
        light += 0.5 * brightness * edge * (radius / spread) ** 0.8
    return light[:, None]


def _barycentric(points: Array, corners: Array) -> Array:
    a, b, c = np.moveaxis(corners, 1, 0)
    normal = np.cross(b - a, c - a)
    area = np.maximum(np.einsum("ij,ij->i", normal, normal), 1e-30)
    u = np.einsum("ij,ij->i", np.cross(c - b, points - b), normal) / area
    v = np.einsum("ij,ij->i", np.cross(a - c, points - c), normal) / area
    return np.clip(np.column_stack([u, v, 1 - u - v]), 0, 1)


def _to_srgb(light: Array) -> Picture:
    light = light * (1 + light / 4) / (1 + light)  # roll highlights off
    light = np.clip(light * 1.6, 0, 1)
    encoded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.round(255 * encoded).astype(np.uint8)


def contact_sheet(pictures: Sequence[Picture], captions: Sequence[str], *, columns: int = 6) -> Picture:
    """Lay pictures of one size out in rows, each with its caption below."""
    width = min(columns, len(pictures))
    size, strip = pictures[0].shape[0], 22
    rows = -(-len(pictures) // width)
    sheet = Image.new("RGB", (width * size, rows * (size + strip)), (245, 245, 246))
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=12)
    for index, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        left, top = index % width * size, index // width * (size + strip)
        sheet.paste(Image.fromarray(picture), (left, top))
        draw.text((left + size / 2, top + size + strip / 2), caption, fill=(40, 40, 44), font=font, anchor="mm")
    return np.asarray(sheet)
