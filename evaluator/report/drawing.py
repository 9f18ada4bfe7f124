"""A drawing in SVG, element by element; texts are escaped by the XML writer."""

from __future__ import annotations

from xml.etree import ElementTree

Point = tuple[float, float]


class Drawing:
    """Collects elements; colours and fonts come from the page's style sheet, by class.

    Args:
        width: Width in the drawing's own units, which the page scales.
        height: Height.
        label: What it shows, for those who cannot see it.
    """

    def __init__(self, width: float, height: float, label: str) -> None:
        shape = {"viewBox": f"0 0 {_short(width)} {_short(height)}", "role": "img", "aria-label": label}
        self._root = ElementTree.Element("svg", {"class": "drawing", **shape})

    def line(self, start: Point, end: Point, style: str) -> None:
        """Draw a straight line."""
        ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
        self._add("line", style, ends)

    def box(self, corner: Point, size: Point, style: str, *, title: str = "") -> None:
        """Draw a rectangle from its upper left corner."""
        place = {"x": corner[0], "y": corner[1], "width": max(size[0], 0.0), "height": size[1]}
        self._titled(self._add("rect", style, place), title)

    def dot(self, middle: Point, radius: float, style: str, *, title: str = "") -> None:
        """Draw a circle."""
        self._titled(self._add("circle", style, {"cx": middle[0], "cy": middle[1], "r": radius}), title)

    def shape(self, points: list[Point], style: str, *, title: str = "") -> None:
        """Draw a closed shape through points."""
        element = self._add("polygon", style, {})
        element.set("points", " ".join(f"{_short(x)},{_short(y)}" for x, y in points))
        self._titled(element, title)

    def text(self, at: Point, text: str, style: str) -> None:
        """Write a line of text; its class says how it is anchored."""
        self._add("text", style, {"x": at[0], "y": at[1]}).text = text

    def markup(self) -> str:
        """Return the drawing as text for a page."""
        return ElementTree.tostring(self._root, encoding="unicode")

    def _add(self, tag: str, style: str, numbers: dict[str, float]) -> ElementTree.Element:
        attributes = {name: _short(number) for name, number in numbers.items()}
        return ElementTree.SubElement(self._root, tag, {"class": style, **attributes})

    def _titled(self, element: ElementTree.Element, title: str) -> None:
        if title:
            ElementTree.SubElement(element, "title").text = title


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
