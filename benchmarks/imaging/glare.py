"""Close-ups of single parts under a small light that moves: where the highlight lies, and how much blows out."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.stats import spearmanr

from scenegen.base import sample_base
from scenegen.cell import Cell
from scenegen.geometry import Pose, look_at, quat_multiply
from scenegen.imaging.comparison import brightest, brightest_spot
from scenegen.imaging.lamps import LUMINANCE
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import (
    Camera,
    Cameras,
    DomeLight,
    Item,
    Layout,
    Lights,
    Look,
    RectLight,
    Scenario,
    Surface,
    Surfaces,
)
from scenegen.streams import stream

PARTS = ("dowel_pin_6x20", "hex_bolt_m8x20", "hex_nut_m8")
ROUGHNESS = (0.2, 0.35)
SHARE = 0.03
"""Share of a part's pixels that are its highlight."""
LIGHT_M = 0.12
DISTANCE_M = 0.6
"""How far the light is from the part [m]."""
SATURATED = 0.1
"""Share of a part's pixels that saturates on average, by the shared exposure."""
NOTES = (
    "Three parts of steel (a pin, a bolt, a nut), roughness 0.2 and 0.35, alone on the tray, 128 px; a square light of"
    " 12 cm, 0.6 m away, moves over them from side to side; a dim dome besides. Truth as in `result.md`.",
    "`peak` is the distance between the middle of the part's brightest 3 % of pixels and the true one [px], both"
    " blurred by 1 px against noise; `overlap` the share of those pixels that are the same. On flat facets near-ties"
    " make the peak jump, for Mitsuba against itself too: overlap and saturated share tell more.",
    "`saturated MAE` as there, with one exposure a part and roughness, at which 10 % of the part saturate on average."
    " `rank` is Spearman's correlation of saturated shares over light positions, the mean over parts.",
)


@dataclass(frozen=True, eq=False)
class Glare:
    """One part under one light."""

    mask: np.ndarray
    truth: np.ndarray
    images: dict[str, np.ndarray]

    def exposed(self, name: str) -> np.ndarray:
        """Return a picture exposed by the true one, for looking at."""
        image = self.truth if name == "truth" else self.images[name]
        return image / float(np.quantile(self.truth[self.mask].max(axis=1), 1 - SATURATED))


def close_ups(cell: Cell, parts: Catalogue, *, positions: int) -> Iterator[list[Scenario]]:
    """Build one part after the other at each roughness, under a light at some positions."""
    base = sample_base(cell, parts, rng=stream("benchmark", "glare"))
    for part in PARTS:
        item = lying(cell, parts, part)
        middle = item.pose_to_world.apply(parts[part].mesh.vertices).mean(axis=0)
        camera = Camera(
            name="close",
            pose_to_world=look_at(middle + np.array([-0.18, 0.0, 0.3]), middle),
            width_px=128,
            height_px=128,
            focal_px=(1100.0, 1100.0),
            principal_px=(64.0, 64.0),
            distortion=(0.0, 0.0, 0.0, 0.0, 0.0),
        )
        for roughness in ROUGHNESS:
            steel = Look(color=(0.56, 0.57, 0.58), metallic=1.0, roughness=roughness)
            kept = [s for s in base.surfaces.surfaces if s.subject not in {i.name for i in base.layout.items}]
            alone = base.varied(
                layout=Layout(fixtures=base.layout.fixtures, items=(item,)),
                surfaces=Surfaces(surfaces=(*kept, Surface(subject=item.name, look=steel))),
                cameras=Cameras(cameras=(camera,)),
            )
            yield [alone.varied(lights=lit(middle, turn)) for turn in np.linspace(-0.9, 0.9, positions)]


def lying(cell: Cell, parts: Catalogue, part: str) -> Item:
    """Lay a part down in the middle of the feed, as it would most likely rest, turned a little."""
    rest = parts[part].stable_poses[0]
    turned = quat_multiply((0.0, 0.0, np.sin(0.2), np.cos(0.2)), rest.quat_xyzw)
    pose = cell.feed.pose_to_world.after(Pose.of((0.0, 0.0, rest.height_m), turned))
    return Item(name=f"{part}_0", part=part, zone="feed", pose_to_world=pose)


def lit(middle: np.ndarray, turn_rad: float) -> Lights:
    """Put the light above a spot, turned sideways by an angle."""
    away = np.array([0.25, np.sin(turn_rad), np.cos(turn_rad)])
    eye = middle + DISTANCE_M * away / np.linalg.norm(away)
    pose: Pose = look_at(eye, middle)
    lamp = RectLight(name="lamp", luminance_nit=8000, size_m=(LIGHT_M, LIGHT_M), pose_to_world=pose)
    return Lights(lights=(lamp, DomeLight(name="dome", luminance_nit=40)))


def glare_row(groups: list[list[Glare]], way: str) -> dict[str, float]:
    """Compare highlights with the true ones."""
    peaks, overlaps, errors, ranks = [], [], [], []
    for group in groups:
        values = np.concatenate([one.truth[one.mask].max(axis=1) for one in group])
        white = float(np.quantile(values, 1 - SATURATED))
        shares = []
        for one in group:
            mine, true = one.images[way], one.truth
            smooth = [gaussian_filter(image @ LUMINANCE, 1.0) for image in (mine, true)]
            spots = [brightest_spot(image, one.mask, share=SHARE) for image in smooth]
            peaks.append(float(np.linalg.norm(spots[0] - spots[1])))
            both = [brightest(image, one.mask, share=SHARE) for image in smooth]
            overlaps.append(float((both[0] & both[1]).sum() / both[1].sum()))
            shares.append([float((image[one.mask].max(axis=1) >= white).mean()) for image in (mine, true)])
        table = np.array(shares)
        errors.append(np.abs(table[:, 0] - table[:, 1]).mean())
        ranks.append(spearmanr(*table.T).statistic if np.ptp(table, axis=0).min() > 0 else np.nan)
    return {
        "peak median px": float(np.median(peaks)),
        "peak p90 px": float(np.quantile(peaks, 0.9)),
        "peak max px": max(peaks),
        "overlap": float(np.mean(overlaps)),
        "saturated MAE": float(np.mean(errors)),
        "rank": float(np.nanmean(ranks)),
    }
