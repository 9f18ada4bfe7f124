"""Draw scenes for people, with the renderer that the command line asks for."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from scenegen.cell import Cell
from scenegen.imaging.path_tracer import PathTracer, load_mitsuba
from scenegen.imaging.photographer import Photographer
from scenegen.imaging.render import Image, Painter
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera, Scenario

Draw = Callable[[Scenario, Camera], Image]


class Renderer(StrEnum):
    """Ways to draw a scene."""

    SHADED = "shaded"
    """The photo that the camera takes: exposure, blur and noise of its sensor."""
    PREVIEW = "preview"
    """A tone curve that shows dark and bright alike, and no sensor: to look into shadows."""
    PATH = "path"
    """Mitsuba's path tracing."""


RENDERER_HELP = (
    "shaded: the photo that the camera takes; preview: a tone curve that shows dark and bright alike, no sensor;"
    " path: path tracing (extra `render`)."
)
CAMERA_HELP = "A camera of the cell, `overview`, or `view`: an overview and, beside it, what the first camera sees."
SPP = 64
"""Paths a pixel of path tracing, where nobody asks for more."""


class Artist:
    """Draws scenes of any cells with one renderer; what a cell needs is prepared once.

    Args:
        renderer: How to draw.
        spp: Paths a pixel of path tracing.

    Raises:
        MissingExtra: Path tracing is asked for and Mitsuba is not installed.
    """

    def __init__(self, renderer: Renderer, *, spp: int = SPP) -> None:
        if renderer is Renderer.PATH:
            load_mitsuba()
        self.renderer, self._spp = renderer, spp
        self._ways: dict[tuple[str, int], Draw] = {}

    @property
    def name(self) -> str:
        """The way of drawing in a file's name: pictures of one scene, camera and size and of one name are the same."""
        return f"{self.renderer}_{self._spp}spp" if self.renderer is Renderer.PATH else str(self.renderer)

    def picture(self, scenario: Scenario, cell: Cell, parts: Catalogue, camera: Camera) -> Image:
        """Draw what a camera sees of a scene, sRGB, shape [h, w, 3]."""
        key = (scenario.cell_id, id(parts))
        if key not in self._ways:
            self._ways[key] = self._way(cell, parts)
        return self._ways[key](scenario, camera)

    def _way(self, cell: Cell, parts: Catalogue) -> Draw:
        if self.renderer is Renderer.PREVIEW:
            return Painter(cell, parts).picture
        if self.renderer is Renderer.SHADED:
            return Photographer(cell, parts).picture
        tracer, spp = PathTracer(cell, parts), self._spp
        return lambda scenario, camera: tracer.picture(scenario, camera, spp=spp)
