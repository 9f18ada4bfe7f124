"""Coated solids in pieces: together they are the solid, and where the camera looks they show what the coat shows."""

import numpy as np
import pytest

from scenegen.geometry import Pose, look_at, quat_yaw
from scenegen.imaging.coat import Coat
from scenegen.imaging.mosaic import pieces
from scenegen.imaging.stage import Solid
from scenegen.optical import Pattern, PatternKind, Stain
from scenegen.scenario import Camera, Look, Surface

PLAIN = Look(color=(1.0, 0.0, 0.0), roughness=0.4)
STAIN = Stain(color=(0.0, 1.0, 0.0), metallic=0.2, roughness=0.9, share=0.4, patch_m=0.02, phase=(0.3, 2.0, 0.1))
POSE = Pose.of((0.02, -0.01, 0.0), quat_yaw(0.4))
SLAB = Solid.boxes(np.array([[[-0.1, -0.06, -0.01], [0.1, 0.06, 0.0]]])).placed(POSE)
CAMERA = Camera(
    name="eye",
    pose_to_world=look_at((0.0, 0.0, 0.4), (0.0, 0.0, 0.0)),
    width_px=128,
    height_px=128,
    focal_px=(200.0, 200.0),
    principal_px=(64.0, 64.0),
    distortion=(0.0, 0.0, 0.0, 0.0, 0.0),
)


def coat(kind=None, stain=None):
    pattern = None if kind is None else Pattern(kind=kind, color=(0.0, 0.0, 1.0), size_m=0.02, angle_rad=0.2)
    return Coat(Surface(subject="feed", look=PLAIN, pattern=pattern, stain=stain), POSE)


COATS = [*(coat(kind) for kind in PatternKind), coat(stain=STAIN), coat(PatternKind.CHECKER, STAIN)]
NAMES = [*PatternKind, "stain", "both"]


def areas(solid):
    a, b, c = np.moveaxis(solid.triangles, 1, 0)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def upper(solid):
    return solid.triangles[..., 2].min(axis=1) > -1e-6


@pytest.mark.parametrize("one", COATS, ids=NAMES)
def test_pieces_are_the_whole_solid(one):
    found = pieces(SLAB, one, CAMERA)
    assert sum(areas(solid).sum() for _, solid in found) == pytest.approx(areas(SLAB).sum())
    corners = np.concatenate([solid.triangles.reshape(-1, 3) for _, solid in found])
    assert corners.min(axis=0) == pytest.approx(SLAB.triangles.min(axis=(0, 1)))
    assert all(np.allclose(np.linalg.norm(solid.normals, axis=2), 1) for _, solid in found)


@pytest.mark.parametrize("one", COATS, ids=NAMES)
def test_what_the_camera_sees_has_the_look_of_the_coat(one):
    right = total = 0.0
    for look, solid in pieces(SLAB, one, CAMERA):
        for weights in ((0.6, 0.2, 0.2), (0.2, 0.6, 0.2), (0.2, 0.2, 0.6)):
            spots = np.einsum("j,njk->nk", weights, solid.triangles[upper(solid)])
            color, metallic, roughness = one.looks(tuple(spots.T), xp=np)
            same = np.isclose(
                np.stack([*color, metallic, roughness], axis=1), (*look.color, look.metallic, look.roughness)
            )
            right += areas(solid)[upper(solid)][same.all(axis=1)].sum()
            total += areas(solid)[upper(solid)].sum()
    # A pixel is 2 mm wide; only seams are wrong, by less than that.
    assert right / total > 0.93


def test_what_the_camera_does_not_see_has_the_mean_of_the_looks():
    one = coat(PatternKind.CHECKER, STAIN)
    found = dict(pieces(SLAB, one, CAMERA))
    mean = next(look for look in found if look.color == one.surface.mean_color)
    assert mean.roughness == pytest.approx(0.4 + 0.4 * 0.5)
    assert areas(found[mean]).sum() == pytest.approx(areas(SLAB)[~upper(SLAB)].sum(), rel=0.2)
    away = CAMERA.replaced(pose_to_world=look_at((0.0, 0.0, 0.4), (0.0, 0.0, 1.0)))
    [(look, solid)] = pieces(SLAB, one, away)
    assert look == mean
    assert len(solid.triangles) == len(SLAB.triangles)


def test_seams_are_as_fine_as_the_camera_s_pixels():
    one = coat(PatternKind.CHECKER)
    coarse, fine = (
        sum(len(solid.triangles) for _, solid in pieces(SLAB, one, camera))
        for camera in (
            CAMERA,
            CAMERA.replaced(focal_px=(800.0, 800.0), width_px=512, height_px=512, principal_px=(256.0, 256.0)),
        )
    )
    assert 2 * coarse < fine < 16 * coarse
