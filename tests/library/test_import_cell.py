"""Cells from elsewhere: what they name as their robot must be a harmless USD file beside them."""

import pytest

from library.import_cell import refuse_unsafe_cells, refuse_unsafe_robot
from scenegen.errors import InvalidRecord, UnsafeStage

ARM = '#usda 1.0\n(\n    defaultPrim = "arm"\n)\ndef Xform "arm"\n{\n}\n'


def with_robot(cell, usd):
    return cell.replaced(robot=cell.robot.replaced(usd=usd))


@pytest.mark.parametrize(
    "usd",
    ["../arm.usda", "/etc/passwd", "/tmp/arm.usda", "a/../../arm.usda", "arm.png", "arm.usda@ (x)", "~/arm.usda", ".."],
)
def test_names_that_lead_elsewhere(cell, tmp_path, usd):
    armed = with_robot(cell, usd)
    with pytest.raises(UnsafeStage) as caught:
        refuse_unsafe_robot(armed, tmp_path, library=tmp_path / "mine")
    file = tmp_path / "cells" / f"{armed.content_id}.json"
    assert str(caught.value) == (
        f"{file}: refused (path): robot.usd {usd!r} - accepted: a plain path to a USD file beside the cell"
    )


def test_a_robot_that_refers_to_other_files(cell, tmp_path):
    (tmp_path / "cells").mkdir()
    path = tmp_path / "cells" / "arm.usda"
    path.write_text(ARM.replace("{\n}", "{\n    asset file = @/etc/hostname@\n}"))
    with pytest.raises(UnsafeStage, match=rf"^{path}: refused \(absolute\)"):
        refuse_unsafe_robot(with_robot(cell, "arm.usda"), tmp_path, library=tmp_path / "mine")


def test_a_harmless_one_and_none(cell, tmp_path):
    (tmp_path / "cells" / "robots").mkdir(parents=True)
    (tmp_path / "cells" / "robots" / "arm-6.usda").write_text(ARM)
    refuse_unsafe_robot(with_robot(cell, "robots/arm-6.usda"), tmp_path, library=tmp_path / "mine")
    refuse_unsafe_robot(with_robot(cell, None), tmp_path, library=tmp_path / "mine")


def test_another_robot_of_that_name(cell, tmp_path):
    for folder, text in (("theirs", ARM), ("mine", ARM + "# mine")):
        (tmp_path / folder / "cells").mkdir(parents=True)
        (tmp_path / folder / "cells" / "arm.usda").write_text(text)
    with pytest.raises(InvalidRecord) as caught:
        refuse_unsafe_robot(with_robot(cell, "arm.usda"), tmp_path / "theirs", library=tmp_path / "mine")
    assert str(caught.value) == (
        f"{tmp_path / 'theirs' / 'cells' / 'arm.usda'}: another robot of that name is in the library - rename yours,"
        " in its cell too"
    )
    refuse_unsafe_robot(with_robot(cell, "arm.usda"), tmp_path / "theirs", library=tmp_path / "theirs")


def test_a_cell_that_is_a_bomb(cell, tmp_path):
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "a.json").write_text(cell.canonical_json())
    refuse_unsafe_cells(tmp_path)
    path = tmp_path / "cells" / "b.json"
    path.write_bytes(b"[" * 100_000)
    with pytest.raises(InvalidRecord, match=rf"^{path}: not JSON \(it is nested too deeply\)$"):
        refuse_unsafe_cells(tmp_path)
    path.write_bytes(b" " * (5 * 2**20))
    with pytest.raises(InvalidRecord, match=rf"^{path}: it has 5.0 MiB - accepted: up to 4 MiB$"):
        refuse_unsafe_cells(tmp_path)
