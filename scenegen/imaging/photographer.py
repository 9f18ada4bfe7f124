"""Photos as the scenario's own cameras take them: shaded scene -> sensor -> eight bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.imaging.exposure import Gain, nominal_gain
from scenegen.imaging.photo import photo
from scenegen.imaging.render import Image, enlarged
from scenegen.imaging.renderer import KEPT, Renderer
from scenegen.imaging.robot_shape import Posture, RobotShape
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera, Cameras, CameraSensor, Scenario


class Photographer:
    """Takes photos of scenes of one cell, from any place.

    Args:
        cell: The cell.
        parts: Its parts.
        robot: Its robot, for photos in which it is seen: those of a given posture.
        keep: How many results of each kind are kept; few suffice where every photo shows another moment.

    Example:
        >>> photographer = Photographer(cell, parts)  # doctest: +SKIP
        >>> image = photographer.picture(scenario, scenario.cameras.cameras[0])  # doctest: +SKIP
    """

    def __init__(self, cell: Cell, parts: Catalogue, *, robot: RobotShape | None = None, keep: int = KEPT) -> None:
        self._renderer = Renderer(cell, parts, robot=robot, keep=keep)
        self._nominal = nominal_gain(cell)

    def radiance(
        self, scenario: Scenario, camera: Camera, *, oversampling: int = 2, posture: Posture | None = None
    ) -> NDArray[np.float32]:
        """Say what light reaches a camera, shaded and averaged over fine pixels.

        Args:
            scenario: The scene.
            camera: One of its cameras or a free view.
            oversampling: Fine pixels a pixel along each direction.
            posture: How the robot stands; None: it is not there.

        Returns:
            Luminance by linear colour [cd/m²], shape [h, w, 3].
        """
        fine = enlarged(camera, oversampling)
        seen = self._renderer.radiance(scenario.varied(cameras=Cameras(cameras=(fine,))), fine.name, posture)
        return seen.reshape(camera.height_px, oversampling, camera.width_px, oversampling, 3).mean(axis=(1, 3))

    def picture(
        self, scenario: Scenario, camera: Camera, *, oversampling: int = 2, posture: Posture | None = None
    ) -> Image:
        """Take a photo, with the exposure, blur and noise of the scenario's sensor of that name.

        Args:
            scenario: The scene.
            camera: One of its cameras, enlarged or not, or a free view, which has a sensor without faults. Blur grows
                with the focal length: it stays as wide in the scene.
            oversampling: Fine pixels a pixel along each direction.
            posture: How the robot stands; None: it is not there.

        Returns:
            sRGB, shape [h, w, 3].
        """
        seen = self.radiance(scenario, camera, oversampling=oversampling, posture=posture)
        return taken(seen, scenario, camera, nominal=self._nominal)


def taken(seen: NDArray[np.floating], scenario: Scenario, camera: Camera, *, nominal: Gain) -> Image:
    """Turn the light that reaches a camera into the photo that its sensor takes.

    Args:
        seen: Luminance by linear colour [cd/m²], shape [h, w, 3].
        scenario: The scene, with its sensors.
        camera: See `Photographer.picture`.
        nominal: Gain of the cell's cameras (`exposure.nominal_gain`).

    Returns:
        sRGB, shape [h, w, 3].
    """
    red, green, blue = np.moveaxis(np.asarray(seen, np.float32), -1, 0)
    return photo((red, green, blue), _sensor(scenario, camera), nominal=nominal, scenario_id=scenario.id, xp=np)


def _sensor(scenario: Scenario, camera: Camera) -> CameraSensor:
    found = next((one for one in scenario.sensor.sensors if one.camera == camera.name), None)
    if found is None:
        return CameraSensor(camera=camera.name)
    native = next((one for one in scenario.cameras.cameras if one.name == camera.name), camera)
    factor = camera.focal_px[0] / native.focal_px[0]
    return found.model_copy(update={"blur_px": found.blur_px * factor, "motion_px": found.motion_px * factor})
