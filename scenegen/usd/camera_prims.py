"""Cameras as UsdGeom prims: a film of `PIXEL_M` a pixel behind a pinhole, and the exact intrinsics beside it.

UsdGeom gives focal length and aperture in tenths of the stage's unit, here 0.1 m. Only their ratio to the image size
matters; what a pinhole film cannot say (distortion, the exact numbers) stands in `scenegen:` attributes.
"""

from __future__ import annotations

from scenegen.record import quantise
from scenegen.scenario import Camera, CameraSensor
from scenegen.usd.prim import Attribute, Prim
from scenegen.usd.shared_prims import pose_attributes

PIXEL_M = 1e-5
"""Width of a pixel on the film [m]."""
PITCH = PIXEL_M / 0.1
"""The same in USD's tenths of a metre."""
BALANCE, BLUR, NOISE = "scenegen:whiteBalanceK", "scenegen:blurPx", "scenegen:snrDb"
FAULTS = {
    "veil_share": "scenegen:veilShare",
    "vignetting": "scenegen:vignetting",
    "motion_px": "scenegen:motionPx",
    "motion_rad": "scenegen:motionRad",
}
"""Fields of a sensor that are written only where they are not zero, and their attributes."""
RESOLUTION, FOCAL = "scenegen:resolutionPx", "scenegen:focalPx"
PRINCIPAL, DISTORTION = "scenegen:principalPx", "scenegen:distortion"
_CLIP = Attribute("clippingRange", "float2", (0.01, 100.0))


def film(camera: Camera) -> dict[str, float]:
    """Return the film of a pinhole camera by UsdGeom's attribute names.

    The image's y runs down and the film's up; the offset moves the film's window against the optical axis.
    """
    pitch_y = PITCH * camera.focal_px[0] / camera.focal_px[1]
    return {
        "focalLength": quantise(camera.focal_px[0] * PITCH),
        "horizontalAperture": quantise(camera.width_px * PITCH),
        "verticalAperture": quantise(camera.height_px * pitch_y),
        "horizontalApertureOffset": quantise((camera.width_px / 2 - camera.principal_px[0]) * PITCH),
        "verticalApertureOffset": quantise((camera.principal_px[1] - camera.height_px / 2) * pitch_y),
    }


def camera_prim(camera: Camera, sensor: CameraSensor) -> Prim:
    """Define one camera with its sensor."""
    return Prim(
        camera.name,
        "Camera",
        attributes=(
            *(Attribute(name, "float", value) for name, value in film(camera).items()),
            _CLIP,
            Attribute(RESOLUTION, "int2", (camera.width_px, camera.height_px)),
            Attribute(FOCAL, "float2", camera.focal_px),
            Attribute(PRINCIPAL, "float2", camera.principal_px),
            Attribute(DISTORTION, "float[]", camera.distortion),
            *pose_attributes(camera.pose_to_world),
            Attribute("exposure", "float", sensor.exposure_ev),
            Attribute(BALANCE, "float", sensor.white_balance_k),
            Attribute(BLUR, "float", sensor.blur_px),
            Attribute(NOISE, "float", sensor.snr_db),
            *(Attribute(name, "float", value) for field, name in FAULTS.items() if (value := getattr(sensor, field))),
        ),
    )
