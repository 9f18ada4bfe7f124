"""How fast things are done, in words."""

import pytest

from scenegen.commands.counted import pace


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (309.4, "309 scenes/s"),
        (10.0, "10 scenes/s"),
        (9.96, "10.0 scenes/s"),
        (1.0, "1.0 scenes/s"),
        (0.5, "2.0 s each"),
        (0.1, "10 s each"),
        (0.02, "50 s each"),
        (0.0, "0.0 scenes/s"),
    ],
)
def test_slow_things_tell_how_long_each_takes(rate, words):
    assert pace(rate, "scenes/s") == words
