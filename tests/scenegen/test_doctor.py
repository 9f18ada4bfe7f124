import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scenegen import doctor
from scenegen.commands.doctor import app
from scenegen.doctor import Diagnosis, Health, Requirement

INSTALL = "/venv/bin/python -m pip"
REQUIREMENTS = (
    Requirement(name="usd-exchange", pin="==3.0.1", extra=None),
    Requirement(name="mujoco", pin="==3.12.*", extra=None),
    Requirement(name="numpy", pin=">=2", extra=None),
    Requirement(name="isaaclab", pin="==3.0.0", extra="isaac"),
    Requirement(name="viser", pin="", extra="view"),
)
HEALTHY = {"usd-exchange": "3.0.1", "mujoco": "3.12.4", "numpy": "2.2.6"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("usd-exchange==3.0.1", ("usd-exchange", "==3.0.1", None)),
        ("PyYAML>=6", ("pyyaml", ">=6", None)),
        ("lerobot[dataset]==0.6.1; extra == 'lerobot'", ("lerobot", "==0.6.1", "lerobot")),
        ('ray[data,default] ; extra == "ray"', ("ray", "", "ray")),
    ],
)
def test_requirements_are_split(line, expected):
    item = doctor.parse_requirement(line)
    assert (item.name, item.pin, item.extra) == expected


def test_another_python_is_bad():
    assert doctor.diagnose_python((3, 12, 7)).health is Health.GOOD
    wrong = doctor.diagnose_python((3, 13, 0))
    assert wrong.health is Health.BAD
    assert wrong.sentence == "Python 3.13.0 - accepted: 3.12"
    assert wrong.remedy == "remove .venv and run: make setup"


def test_a_healthy_core_is_one_line():
    (line,) = doctor.diagnose_core(REQUIREMENTS, HEALTHY, install=INSTALL)
    assert line.health is Health.GOOD
    assert line.sentence == "usd-exchange 3.0.1, mujoco 3.12.4, numpy 2.2.6"


def test_missing_and_wrong_core_packages_are_named_with_their_install_line():
    installed = {"usd-exchange": "3.0.1", "mujoco": "3.11.0"}
    good, *bad = doctor.diagnose_core(REQUIREMENTS, installed, install=INSTALL)
    assert good.sentence == "usd-exchange 3.0.1"
    assert [(item.sentence, item.remedy) for item in bad] == [
        ("mujoco 3.11.0 - accepted: ==3.12.*", f"{INSTALL} install 'mujoco==3.12.*'"),
        ("numpy is missing - accepted: >=2", f"{INSTALL} install 'numpy>=2'"),
    ]


def test_an_uninstalled_scenegen_is_bad():
    (line,) = doctor.diagnose_core((), HEALTHY, install=INSTALL)
    assert line.health is Health.BAD
    assert line.remedy == f"in the checkout: {INSTALL} install --no-deps --editable ."


def test_an_absent_extra_is_no_fault_but_a_wrong_one_is():
    isaac, view = doctor.diagnose_extras(REQUIREMENTS, HEALTHY | {"isaaclab": "2.3.0"}, install=INSTALL)
    assert isaac == Diagnosis(
        subject="extra_isaac",
        health=Health.BAD,
        sentence="isaaclab 2.3.0 - accepted: isaaclab==3.0.0",
        remedy=f"{INSTALL} install 'isaaclab==3.0.0'",
    )
    assert view == Diagnosis(
        subject="extra_view",
        health=Health.ABSENT,
        sentence="not installed (viser missing)",
        remedy=f"{INSTALL} install 'scenegen[view]'",
    )


def test_usd_core_beside_usd_exchange_is_bad_with_the_exact_fix():
    found = doctor.diagnose_usd(HEALTHY | {"usd-core": "26.8"}, install=INSTALL)
    assert found.health is Health.BAD
    assert found.sentence == (
        "usd-core 26.8 beside usd-exchange 3.0.1: both install pxr, and each overwrites the other"
        " - accepted: usd-exchange alone"
    )
    assert found.remedy == (
        f"{INSTALL} uninstall -y usd-core && {INSTALL} install --force-reinstall --no-deps usd-exchange==3.0.1"
    )


def test_uv_environments_get_uv_commands():
    install = doctor.install_command("/venv/bin/python", has_pip=False)
    assert install == "VIRTUAL_ENV=/venv uv pip"
    found = doctor.diagnose_usd({"usd-core": "26.8"}, install=install)
    assert found.remedy == (
        "VIRTUAL_ENV=/venv uv pip uninstall usd-core"
        " && VIRTUAL_ENV=/venv uv pip install --force-reinstall --no-deps usd-exchange==3.0.1"
    )


def test_usd_exchange_alone_is_good_and_none_is_bad():
    assert doctor.diagnose_usd(HEALTHY, install=INSTALL).health is Health.GOOD
    assert doctor.diagnose_usd({}, install=INSTALL).sentence == "usd-exchange is missing, so there is no pxr"


def test_a_foreign_package_of_our_name_is_found(tmp_path):
    (tmp_path / "validators").mkdir()
    (tmp_path / "validators" / "__init__.py").write_text("raise SystemExit('imported')")
    code = "from scenegen.doctor import package_folder; print(package_folder('validators'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == str(tmp_path / "validators")

    home = Path("/site")
    folders = {"scenegen": home / "scenegen", "library": home / "library", "validators": tmp_path / "validators"}
    (found,) = doctor.diagnose_shadows(folders)
    assert found.health is Health.BAD
    assert found.sentence == f"import validators finds {tmp_path / 'validators'} - accepted: /site/validators"
    assert found.remedy == f"uninstall the distribution that owns {tmp_path / 'validators'}"


def test_our_packages_are_ours():
    (found,) = doctor.diagnose_shadows({name: doctor.package_folder(name) for name in doctor.OUR_PACKAGES})
    assert found.health is Health.GOOD


def test_devices_are_told():
    assert doctor.diagnose_gpus((), torch_version="2.11.0").health is Health.ABSENT
    found = doctor.diagnose_gpus(("NVIDIA H200, 143771 MiB, 570.86",), torch_version="2.11.0")
    assert found.sentence == "NVIDIA H200, 143771 MiB, driver 570.86; torch 2.11.0"
    idle = doctor.diagnose_gpus(("NVIDIA H200, 143771 MiB, 570.86",), torch_version=None)
    assert idle.sentence.endswith("; torch is not installed, so it is not used")


def test_a_full_disk_is_bad(tmp_path):
    assert doctor.diagnose_disk(tmp_path, 2.0).health is Health.GOOD
    full = doctor.diagnose_disk(tmp_path, 0.3)
    assert full.health is Health.BAD
    assert full.sentence == f"0.3 GB free for {tmp_path} - accepted: 2 GB or more"


def test_the_kernel_cache_must_be_writable(tmp_path):
    assert doctor.diagnose_warp_cache(None, tmp_path).health is Health.ABSENT
    empty = doctor.diagnose_warp_cache("1.17.0", tmp_path / "new" / "cache")
    assert empty.sentence == f"{tmp_path / 'new' / 'cache'} is empty: the first rollout compiles for minutes"
    file = tmp_path / "file"
    file.touch()
    blocked = doctor.diagnose_warp_cache("1.17.0", file / "cache")
    assert blocked.health is Health.BAD
    assert blocked.sentence == f"{file / 'cache'} cannot be written"


def test_the_command_prints_the_table_or_json(tmp_path):
    runner = CliRunner()
    table = runner.invoke(app, ["--folder", str(tmp_path)])
    report = runner.invoke(app, ["--folder", str(tmp_path), "--json"])
    diagnoses = json.loads(report.stdout)
    bad = [item for item in diagnoses if item["health"] == "bad"]
    assert table.exit_code == report.exit_code == bool(bad)
    assert "pxr comes from usd-exchange" in table.stdout
    assert {"python", "core", "usd", "packages", "gpu", "disk"} <= {item["subject"] for item in diagnoses}


def test_a_fault_makes_the_command_fail(monkeypatch):
    bad = Diagnosis(subject="usd", health=Health.BAD, sentence="usd-core is there", remedy="uninstall it")
    monkeypatch.setattr("scenegen.commands.doctor.examine", lambda folder: (bad,))
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 1
    assert "to mend usd:\n  uninstall it" in result.stdout
