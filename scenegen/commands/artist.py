"""Draw scenes for people, as the command line asks: which renderer, which camera, how large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from scenegen.cell import Cell
from scenegen.errors import UnknownName
from scenegen.imaging.path_tracer import PathTracer
from scenegen.imaging.photographer import Photographer
from scenegen.imaging.render import Image, Painter, enlarged, overview
from scenegen.imaging.sheet import VIEW
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera, Scenario

Draw = Callable[[Scenario, Camera], Image]


class Renderer(StrEnum):
    """Ways to draw a scene."""

    PREVIEW = "preview"
    """For people: direct light and a tone curve that shows dark and bright alike."""
    SHADED = "shaded"
    """The photo that the camera takes: exposure, blur and noise of its sensor."""
    PATH = "path"
    """Mitsuba's path tracing."""


@dataclass(frozen=True)
class Style:
    """How pictures are drawn."""

    renderer: Renderer
    camera: str
    """Name of a camera, or `view`."""
    width_px: int
    spp: int
    """Paths a pixel of path tracing."""

    @property
    def name(self) -> str:
        """The style in a file's name: pictures of one name are the same."""
        paths = f"_{self.spp}spp" if self.renderer is Renderer.PATH else ""
        return f"{self.camera}_{self.renderer}{paths}_{self.width_px}px"


class Artist:
    """Draws scenes of any cells in one style; what a cell needs is prepared once."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._ways: dict[tuple[str, int], Draw] = {}

    def picture(self, scenario: Scenario, cell: Cell, parts: Catalogue) -> Image:
        """Draw a scene, sRGB, shape [h, w, 3].

        Raises:
            UnknownName: The scene has no such camera.
            MissingExtra: Path tracing is asked for and Mitsuba is not installed.
        """
        key = (scenario.cell_id, id(parts))
        if key not in self._ways:
            self._ways[key] = self._way(cell, parts)
        return self._ways[key](scenario, self._camera(scenario, cell))

    def _way(self, cell: Cell, parts: Catalogue) -> Draw:
        if self._style.renderer is Renderer.PREVIEW:
            return Painter(cell, parts).picture
        if self._style.renderer is Renderer.SHADED:
            return Photographer(cell, parts).picture
        tracer, spp = PathTracer(cell, parts), self._style.spp
        return lambda scenario, camera: tracer.picture(scenario, camera, spp=spp)

    def _camera(self, scenario: Scenario, cell: Cell) -> Camera:
        width = self._style.width_px
        if self._style.camera == VIEW:
            return overview(cell, width_px=width, height_px=width * 5 // 8)
        cameras = {camera.name: camera for camera in scenario.cameras.cameras}
        if self._style.camera not in cameras:
            raise UnknownName("camera", self._style.camera, [*cameras, VIEW])
        camera = cameras[self._style.camera]
        return enlarged(camera, width / camera.width_px)
