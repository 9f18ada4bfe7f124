"""Many beams at once end where each beam alone does."""

import numpy as np
import pytest

from scenegen.imaging.beam import Beam, beam_distances, beam_hits
from scenegen.imaging.ray_shape import RayShape


@pytest.fixture(scope="module")
def shapes(cell, catalogue):
    meshes = [catalogue[part].mesh for part in sorted({item.part for item in cell.inventory})[:2]]
    return [RayShape(mesh.vertices, mesh.faces, mesh.normals) for mesh in meshes]


def _beams(shape, count):
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    steps = np.linspace(-0.03, 0.03, 15)
    x, y = (values.ravel() for values in np.meshgrid(steps, steps))
    rays = np.stack([x, y, np.full(len(x), -1.0)], axis=1)
    eyes = [np.array([0.004 * index, 0.0, 0.5]) for index in range(count)]
    return [Beam(shape, eye, turn, rays[: len(rays) - 20 * index]) for index, eye in enumerate(eyes)]


def test_beams_find_what_each_finds_alone(shapes):
    beams = [beam for shape in shapes for beam in _beams(shape, 3)]
    beams.insert(2, beams[0]._replace(rays=np.empty((0, 3))))
    for beam, distances, hits in zip(beams, beam_distances(beams), beam_hits(beams), strict=True):
        directions = beam.rays @ beam.rotation.T
        np.testing.assert_array_equal(distances, beam.shape.distances(beam.origin, directions))
        for found, alone in zip(hits, beam.shape.hits(beam.origin, directions), strict=True):
            np.testing.assert_array_equal(found, alone)
    assert any(len(hits.rays) for hits in beam_hits(beams))


def test_beams_without_rays(shapes):
    empty = [Beam(shape, np.zeros(3), np.eye(3), np.empty((0, 3))) for shape in shapes]
    assert [len(one) for one in beam_distances(empty)] == [0, 0]
    assert [len(one.rays) for one in beam_hits(empty)] == [0, 0]
    assert beam_distances([]) == beam_hits([]) == []
