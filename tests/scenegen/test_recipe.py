"""What commands and their processes build from a cell."""

from scenegen.commands.recipe import Workshop, check_plan


def test_the_plan_of_a_cell_is_its_workshops(cell, catalogue):
    assert check_plan(cell, catalogue) == Workshop.of(cell, catalogue).checker.plan
