"""The net: an image becomes maps of where parts can be taken, which they are, and how."""

from __future__ import annotations

from dataclasses import dataclass, fields

from torch import Tensor, nn
from torch.nn import functional

STRIDE = 2
"""Pixels of the image that a cell of the maps is wide and high."""
ANGLES = 18
"""Closing directions that are told apart: ten degrees each, the first one along the image's rows."""
LEVELS = 4
"""How often the net halves the image: sides must be divisible by 2 to this power."""
WIDTH = 24
"""Channels of the first level; each of the next ones has twice as many, up to four times."""
RARE = -4.0
"""What the net says of a cell before it learnt anything: hardly ever can a part be taken there [logit]."""


@dataclass(frozen=True, eq=False)
class Maps:
    """What the net says of n images of h x w pixels, with h/2 x w/2 cells; all but two are logits."""

    region: Tensor
    """Which part a pixel belongs to, background first, shape [n, classes + 1, h, w]."""
    spot: Tensor
    """Whether a part of a class can be taken there, shape [n, classes, h/2, w/2]."""
    angle: Tensor
    """Whether the fingers may close along a direction, shape [n, ANGLES, h/2, w/2]."""
    width: Tensor
    """Distance of the two contacts as a share of the gripper's opening, shape [n, h/2, w/2]."""
    height: Tensor
    """Height of the contacts above the feed as a share of the fingers' length, shape [n, h/2, w/2]."""

    def cpu(self) -> Maps:
        """Bring them to the processor."""
        return Maps(*(getattr(self, field.name).cpu() for field in fields(self)))


class SortNet(nn.Module):
    """A fully convolutional net with skip connections (Ronneberger et al. 2015, U-Net).

    Args:
        classes: How many parts are told apart.
        width: Channels of the first level.
    """

    def __init__(self, classes: int, *, width: int = WIDTH) -> None:
        super().__init__()
        self.classes = classes
        wide = [width, 2 * width, 4 * width, 4 * width]
        self.down = nn.ModuleList(
            nn.Sequential(_block(before, after, step=2), _block(after, after))
            for before, after in zip([3, *wide[:-1]], wide, strict=True)
        )
        pairs = list(zip(wide[:0:-1], wide[-2::-1], strict=True))
        self.across = nn.ModuleList(nn.Conv2d(deep, shallow, 1) for deep, shallow in pairs)
        self.up = nn.ModuleList(_block(shallow, shallow) for _, shallow in pairs)
        self.region = nn.Conv2d(width, (classes + 1) * STRIDE**2, 1)
        self.grasp = nn.Sequential(_block(width, 2 * width), nn.Conv2d(2 * width, classes + ANGLES + 2, 1))
        last = self.grasp[-1].bias
        assert isinstance(last, Tensor)
        nn.init.constant_(last[:classes], RARE)

    def forward(self, images: Tensor) -> Maps:
        """Look at images.

        Args:
            images: sRGB, 8 bits, shape [n, h, w, 3], or values from 0 to 255.
        """
        seen = images.permute(0, 3, 1, 2).float() / 127.5 - 1
        levels: list[Tensor] = []
        for down in self.down:
            seen = down(seen)
            levels.append(seen)
        for across, up, skip in zip(self.across, self.up, levels[-2::-1], strict=True):
            seen = up(skip + functional.interpolate(across(seen), scale_factor=2.0))
        region = functional.pixel_shuffle(self.region(seen), STRIDE)
        spot, angle, rest = self.grasp(seen).split([self.classes, ANGLES, 2], dim=1)
        return Maps(region, spot, angle, rest[:, 0], rest[:, 1])


def _block(before: int, after: int, *, step: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, 3, stride=step, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()
    )
