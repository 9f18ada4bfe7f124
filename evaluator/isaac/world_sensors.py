"""The sensors of one camera in many worlds, held on the simulator's device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from evaluator.isaac.world_table import WorldTable
from scenegen.imaging.blur import lens_blur, motion_blur
from scenegen.imaging.exposure import Gain
from scenegen.imaging.noise import Words, at_frames, noise_seed, seed_words
from scenegen.imaging.photo import corner_tan2, sensor_gain
from scenegen.imaging.sensor_set import SensorSet
from scenegen.imaging.veil import Veil, veil_of
from scenegen.scenario import CameraSensor, Scenario


class WorldSensors:
    """How one camera of each world turns light into numbers; and what its noise is drawn by.

    Args:
        camera: The camera's name.
        size_px: Height and width of its images.
        count: Number of worlds.
        nominal: Gain of the cell's cameras (`exposure.nominal_gain`).
        device: The simulator's device.
    """

    def __init__(self, camera: str, size_px: tuple[int, int], count: int, *, nominal: Gain, device: str) -> None:
        self._camera, self._nominal = camera, nominal
        self._like = torch.empty((1, *size_px), device=device)
        self._sensors = [CameraSensor(camera=camera)] * count
        self._table = WorldTable(self._numbers(self._sensors[0]), count, device=device)
        self._seeds = [torch.zeros((count, 1), dtype=torch.int64, device=device) for _ in range(2)]
        self._frames = torch.zeros((count, 1), dtype=torch.int64, device=device)
        veil = veil_of([1.0], like=self._like, xp=torch)
        assert veil is not None
        self._veil = veil

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Write the sensors of some worlds, by number; their next photos are their first ones."""
        rows = {world: self._sensor_of(scenario) for world, scenario in scenarios.items()}
        for world, sensor in rows.items():
            self._sensors[world] = sensor
        self._table.put({world: self._numbers(sensor) for world, sensor in rows.items()})
        worlds = torch.tensor(list(scenarios), device=self._like.device)
        seeds = [noise_seed(scenario.id, self._camera) for scenario in scenarios.values()]
        for kept, words in zip(self._seeds, seed_words(seeds, like=self._like, xp=torch), strict=True):
            kept[worlds] = words
        self._frames[worlds] = 0

    def take(self, worlds: Sequence[int], rows: torch.Tensor) -> SensorSet:
        """Return the sensors of some worlds.

        Args:
            worlds: Numbers of the worlds.
            rows: The same on the device, shape [b].
        """
        chosen = [self._sensors[world] for world in worlds]
        red, green, blue, snr_db, corner, share = (one.reshape((-1, 1, 1)) for one in self._table.take(rows))
        lines = ([one.motion_px for one in chosen], [one.motion_rad for one in chosen])
        return SensorSet(
            blurs=(
                *motion_blur(*lines, like=self._like, xp=torch),
                *lens_blur([one.blur_px for one in chosen], like=self._like, xp=torch),
            ),
            corner=corner if any(one.vignetting for one in chosen) else None,
            veil=Veil(*self._veil[:3], share=share) if any(one.veil_share for one in chosen) else None,
            gain=(red, green, blue),
            snr_db=snr_db,
        )

    def words(self, rows: torch.Tensor) -> Words:
        """Return what draws the noise of these worlds' next photos, and count those.

        Args:
            rows: Numbers of the worlds, shape [b].
        """
        first, second = (kept[rows] for kept in self._seeds)
        frames = self._frames[rows]
        self._frames[rows] = frames + 1
        return at_frames((first, second), frames, xp=torch)

    def _sensor_of(self, scenario: Scenario) -> CameraSensor:
        found = [one for one in scenario.sensor.sensors if one.camera == self._camera]
        return found[0] if found else CameraSensor(camera=self._camera)

    def _numbers(self, sensor: CameraSensor) -> tuple[np.ndarray, ...]:
        values = (*sensor_gain(sensor, self._nominal), sensor.snr_db, corner_tan2(sensor.vignetting), sensor.veil_share)
        return tuple(np.full((1, 1), value, np.float32) for value in values)
