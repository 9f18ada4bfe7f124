"""All axes, by name; a new axis is one file and one line here."""

from __future__ import annotations

from scenegen.axes.axis import Axis
from scenegen.axes.camera import CAMERA
from scenegen.axes.contact import CONTACT
from scenegen.axes.datum import DATUM
from scenegen.axes.lighting import LIGHTING
from scenegen.axes.misplacement import MISPLACEMENT
from scenegen.axes.pose import POSE
from scenegen.axes.robot_start import ROBOT_START
from scenegen.axes.vibration import VIBRATION
from scenegen.errors import UnknownName

AXES: dict[str, Axis] = {
    axis.name: axis for axis in (LIGHTING, POSE, MISPLACEMENT, DATUM, CAMERA, CONTACT, VIBRATION, ROBOT_START)
}
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
