"""What commands and their processes build from a cell."""

import pytest

from scenegen.commands.recipe import CHUNK, CHUNK_APART, Recipe, Workshop, check_plan
from scenegen.expand import Expansion


def test_the_plan_of_a_cell_is_its_workshops(cell, catalogue):
    assert check_plan(cell, catalogue) == Workshop.of(cell, catalogue).checker.plan


@pytest.mark.parametrize(
    ("axes", "chunk"), [(("lighting",), CHUNK), (("pose", "glare"), CHUNK), (("pose",), CHUNK_APART)]
)
def test_scenes_that_share_a_base_stay_in_one_process(cell, catalogue, axes, chunk):
    expansion = Expansion(cell_id=cell.content_id, assets={}, axes=axes, levels=(1,), seed=1)
    assert Recipe("library", cell, catalogue, expansion).chunk == chunk
