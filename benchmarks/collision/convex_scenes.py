"""Overlapping parts and their depth, piece by piece, by coal or by python-fcl (runs in the peers' environment)."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import numpy as np

REPEATS = 3

Depth = Callable[[int, Any, int, Any], float]


class Pieces:
    """All convex pieces of a scene's parts, with the boxes around them."""

    def __init__(self, data: Any) -> None:
        parts = [data[f"pieces/{part}"].tolist() for part in data["parts"].tolist()]
        self.vertices, self.faces, owner = [], [], []
        for index, part in enumerate(data["parts"].tolist()):
            for piece in parts[index]:
                self.vertices.append(data[f"vertices/{part}/{piece}"])
                self.faces.append(data[f"faces/{part}/{piece}"])
                owner.append(index)
        self.owner = np.array(owner)
        self._corners = np.concatenate(self.vertices)
        counts = [len(vertices) for vertices in self.vertices]
        self._corner_owner = np.repeat(self.owner, counts)
        self._starts = np.cumsum([0, *counts[:-1]])

    def near(self, scene: np.ndarray) -> Iterator[tuple[int, int]]:
        """Yield the pairs of pieces of two parts whose boxes meet; `scene` holds a transform a part."""
        rotated = np.einsum("kij,kj->ki", scene[self._corner_owner, :3, :3], self._corners)
        corners = rotated + scene[self._corner_owner, :3, 3]
        low = np.minimum.reduceat(corners, self._starts)
        high = np.maximum.reduceat(corners, self._starts)
        meet = (low[:, None] <= high[None]).all(axis=2)
        meet &= meet.T & (self.owner[:, None] < self.owner[None])
        yield from zip(*(indices.tolist() for indices in np.nonzero(meet)), strict=True)


def coal_engine(pieces: Pieces) -> tuple[str, Callable, Depth]:
    """Return coal's name, how it takes a pose, and how deep two of its pieces overlap [m]."""
    import coal

    shapes = []
    for vertices, faces in zip(pieces.vertices, pieces.faces, strict=True):
        points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        points.extend(np.array(vertex) for vertex in vertices)
        triangles.extend(coal.Triangle(*face) for face in faces.tolist())
        shapes.append(coal.Convex(points, triangles))
    request, result = coal.CollisionRequest(coal.CollisionRequestFlag.CONTACT, 1), coal.CollisionResult()

    def depth(a: int, pose_a: Any, b: int, pose_b: Any) -> float:
        result.clear()
        coal.collide(shapes[a], pose_a, shapes[b], pose_b, request, result)
        return abs(result.getContact(0).penetration_depth) if result.isCollision() else 0.0

    return f"coal {version('coal')}", lambda matrix: coal.Transform3s(matrix[:3, :3], matrix[:3, 3]), depth


def fcl_engine(pieces: Pieces) -> tuple[str, Callable, Depth]:
    """Return python-fcl's name, how it takes a pose, and how deep two of its pieces overlap [m]."""
    import fcl

    shapes = []
    for vertices, faces in zip(pieces.vertices, pieces.faces, strict=True):
        flat = np.column_stack([np.full(len(faces), 3), faces]).ravel()
        shapes.append(fcl.Convex(vertices, len(faces), flat))
    request = fcl.CollisionRequest(num_max_contacts=1, enable_contact=True)

    def depth(a: int, pose_a: Any, b: int, pose_b: Any) -> float:
        result = fcl.CollisionResult()
        first, second = fcl.CollisionObject(shapes[a], pose_a), fcl.CollisionObject(shapes[b], pose_b)
        fcl.collide(first, second, request, result)
        return abs(result.contacts[0].penetration_depth) if result.is_collision else 0.0

    return f"python-fcl {version('python-fcl')}", lambda matrix: fcl.Transform(matrix[:3, :3], matrix[:3, 3]), depth


def main() -> None:
    """Check all scenes some times over; print the best rate and the overlapping pairs with depths as JSON."""
    data = np.load(sys.argv[2])
    names, transforms, pieces = data["names"].tolist(), data["transforms"], Pieces(data)
    engine, pose_of, depth = {"coal": coal_engine, "fcl": fcl_engine}[sys.argv[1]](pieces)
    owner, seconds, found = pieces.owner.tolist(), [], {}
    for _ in range(REPEATS):
        found = {}
        start = time.perf_counter()
        for row, scene in enumerate(transforms):
            poses = [pose_of(matrix) for matrix in scene]
            for a, b in pieces.near(scene):
                first, second = owner[a], owner[b]
                overlap = depth(a, poses[first], b, poses[second])
                if overlap > 0:
                    key = (row, names[first], names[second])
                    found[key] = max(found.get(key, 0.0), overlap)
        seconds.append(time.perf_counter() - start)
    pairs = [(*key, overlap) for key, overlap in found.items()]
    print(json.dumps({"engine": engine, "scenes_per_s": len(transforms) / min(seconds), "pairs": pairs}))


if __name__ == "__main__":
    main()
