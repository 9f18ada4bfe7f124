"""A robot's own file is looked for beside the cell's file, and must be whole in itself."""

import pytest

from scenegen.errors import InvalidRecord
from scenegen.usd.robot_file import robot_bytes

ARM = '#usda 1.0\n(\n    defaultPrim = "Arm"\n)\n\ndef Xform "Arm"{more}\n{{\n{body}}}\n'


@pytest.fixture
def armed(cell, tmp_path, monkeypatch):
    """The cell with a robot of one's own; the command runs elsewhere."""
    (tmp_path / "line").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return cell.replaced(robot=cell.robot.replaced(usd="arm.usda"))


def refusal(cell, beside):
    with pytest.raises(InvalidRecord) as caught:
        robot_bytes(cell, beside)
    return str(caught.value)


def test_it_lies_beside_the_cell_file_wherever_the_command_runs(armed, tmp_path):
    beside, file = tmp_path / "line" / "cell.yaml", tmp_path / "line" / "arm.usda"
    (tmp_path / "elsewhere" / "arm.usda").write_text("another one")
    assert refusal(armed, beside) == f"{beside}: robot.usd: arm.usda - accepted: a file beside the cell file"
    file.write_text(ARM.format(more="", body=""))
    assert robot_bytes(armed, beside) == file.read_bytes()


def test_a_cell_without_one_needs_none(cell, tmp_path):
    assert robot_bytes(cell, tmp_path / "cell.yaml") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "arm.usda cannot be opened as USD - accepted: {accepted}"),
        (
            ARM.format(more=" (\n    references = @./link.usda@\n)", body=""),
            "arm.usda refers to ./link.usda - accepted: {accepted}; flatten it",
        ),
        (
            ARM.format(more=" (\n    payload = @./link.usda@\n)", body="    asset inputs:file = @./paint.png@\n"),
            "arm.usda refers to ./link.usda and 1 more - accepted: {accepted}; flatten it",
        ),
    ],
)
def test_what_a_library_could_not_keep_is_refused(armed, tmp_path, text, reason):
    beside = tmp_path / "line" / "cell.yaml"
    (tmp_path / "line" / "arm.usda").write_text(text)
    accepted = "one USD file that is whole in itself, beside the cell file"
    assert refusal(armed, beside) == f"{beside}: robot.usd: {reason.format(accepted=accepted)}"
