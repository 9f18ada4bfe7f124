"""What the axes' tests share: contexts, bases, and scenes at every level of every axis."""

import pytest

from scenegen.axes.axis import LEVELS, AxisContext
from scenegen.axes.registry import AXES
from scenegen.base import sample_base
from scenegen.errors import VariationFailed
from scenegen.parts.builtin import builtin_catalogue
from scenegen.streams import stream

ATTEMPTS = 8


@pytest.fixture(scope="session")
def find():
    """`find(axis, base, level, ctx, key) -> (scene, stream)`: the first scene that an axis finds."""
    return _find


def _find(axis, base, level, ctx, key):
    last = None
    for attempt in range(ATTEMPTS):
        name = (axis.name, level, key, attempt)
        try:
            return axis.vary(base, level, ctx=ctx, rng=stream(*name)), name
        except VariationFailed as failure:
            last = failure
    raise last


@pytest.fixture(scope="session")
def ctx(cell, catalogue, settler):
    """What axes use in the `fasteners` cell."""
    return AxisContext.of(cell, catalogue, settler=settler)


@pytest.fixture(scope="session")
def rings_ctx(rings):
    """What axes use in the `rings` cell."""
    parts = builtin_catalogue([item.part for item in rings.inventory])
    return AxisContext.of(rings, parts)


@pytest.fixture(scope="session")
def bases(cell, catalogue):
    """Two bases of the `fasteners` cell."""
    return [sample_base(cell, catalogue, rng=stream("axes", index)) for index in range(2)]


@pytest.fixture(scope="session")
def scenes(ctx, bases):
    """For each axis and level some (base, scene, stream); made when first asked for."""
    made = {}

    def of(axis):
        if axis.name not in made:
            made[axis.name] = {
                level: [(base, *_find(axis, base, level, ctx, key)) for key, base in enumerate(bases)]
                for level in LEVELS
            }
        return made[axis.name]

    return of


@pytest.fixture(params=sorted(AXES))
def axis(request):
    """Every axis that is registered, one after the other."""
    return AXES[request.param]
