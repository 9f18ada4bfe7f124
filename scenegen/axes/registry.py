"""All axes, by name; a new axis is one file and one line here."""

from __future__ import annotations

from scenegen.axes.axis import Axis
from scenegen.axes.background import BACKGROUND
from scenegen.axes.camera import CAMERA
from scenegen.axes.color_shift import COLOR_SHIFT
from scenegen.axes.contact import CONTACT
from scenegen.axes.datum import DATUM
from scenegen.axes.glare import GLARE
from scenegen.axes.language import LANGUAGE
from scenegen.axes.lighting import LIGHTING
from scenegen.axes.misplacement import MISPLACEMENT
from scenegen.axes.occlusion import OCCLUSION
from scenegen.axes.pose import POSE
from scenegen.axes.robot_start import ROBOT_START
from scenegen.axes.sensor import SENSOR
from scenegen.axes.stacking import STACKING
from scenegen.axes.tilt import TILT
from scenegen.axes.vibration import VIBRATION
from scenegen.errors import UnknownName

_ALL = (
    LIGHTING, GLARE, COLOR_SHIFT, POSE, TILT, STACKING, MISPLACEMENT, OCCLUSION, BACKGROUND, DATUM, CAMERA, SENSOR,
    CONTACT, VIBRATION, ROBOT_START, LANGUAGE,
)  # fmt: skip
AXES: dict[str, Axis] = {axis.name: axis for axis in _ALL}
"""Every axis by name, in the order in which tables show them."""


def axis_named(name: str) -> Axis:
    """Return an axis.

    Raises:
        UnknownName: No axis has that name.
    """
    try:
        return AXES[name]
    except KeyError:
        raise UnknownName("axis", name, AXES) from None
