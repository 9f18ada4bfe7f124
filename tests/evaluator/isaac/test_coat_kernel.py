"""Patterns and stains on a device are, spot by spot, those of the processor."""

import numpy as np
import pytest

wp = pytest.importorskip("warp", reason="needs the extra isaac")

from evaluator.isaac.coat_kernel import coat_layer  # noqa: E402
from evaluator.isaac.pixel_kernel import coat_at  # noqa: E402
from scenegen.imaging.coat import pattern_mask, stain_mask  # noqa: E402
from scenegen.imaging.coat_set import coat_set  # noqa: E402
from scenegen.optical import Pattern, PatternKind, Stain  # noqa: E402
from scenegen.scenario import Surfaces  # noqa: E402
from scenegen.streams import stream  # noqa: E402

SPOTS = 20_000
APART = 0.001
"""Share of spots that may be told otherwise: on a border, in single precision."""


@wp.kernel(enable_backward=False)
def layers(coats: wp.array3d[wp.float32], spots: wp.array[wp.vec3f], found: wp.array[wp.int32]):
    spot = wp.tid()
    found[spot] = coat_layer(coat_at(coats, 0, 0), spots[spot])


@pytest.mark.parametrize("kind", [None, *PatternKind])
@pytest.mark.parametrize("stained", [False, True])
def test_layers_are_those_of_the_masks(base_scenario, kind, stained):
    pattern = None if kind is None else Pattern(kind=kind, color=(0.6, 0.3, 0.1), size_m=0.013, angle_rad=0.7)
    stain = Stain(color=(0.2, 0.1, 0.1), share=0.3, patch_m=0.006, phase=(0.4, -7.1, 3.3)) if stained else None
    surface = base_scenario.surfaces.surfaces[0].replaced(pattern=pattern, stain=stain)
    scene = base_scenario.varied(surfaces=Surfaces(surfaces=(surface, *base_scenario.surfaces.surfaces[1:])))
    spots = stream("coats").uniform(-0.3, 0.3, (SPOTS, 3)).astype(np.float32)
    local = tuple(spots.T.astype(np.float64))
    wanted = np.zeros(SPOTS, int)
    if pattern is not None:
        wanted[pattern_mask(pattern, local, xp=np) > 0] = 1
    if stain is not None:
        wanted[stain_mask(stain, local, xp=np) > 0] = 2
    coats = np.stack(coat_set(scene, (surface.subject,)), axis=2)
    found = wp.zeros(SPOTS, dtype=wp.int32, device="cpu")
    inputs = [wp.array(coats, dtype=wp.float32, device="cpu"), wp.array(spots, dtype=wp.vec3f, device="cpu"), found]
    wp.launch(layers, dim=SPOTS, inputs=inputs, device="cpu")
    assert (found.numpy() != wanted).mean() < APART
    assert set(np.unique(wanted)) == {0, *([1] if pattern else []), *([2] if stain else [])}
