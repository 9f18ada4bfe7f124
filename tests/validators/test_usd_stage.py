"""The USD check: valid scenes pass, shapes that have passed need no second look, an audit looks all the same."""

import gc

import pytest

from scenegen.errors import InvalidRecord
from scenegen.scenario import Facet, Lights, Matter, Motion, Scenario
from scenegen.usd import writer as writer_module
from scenegen.usd.prim import Attribute
from scenegen.usd.text import header_text
from scenegen.verdict import Basis, Tier
from validators.usd_stage import AUDIT, StageValidator, usd_stage_check


@pytest.fixture(scope="module")
def validator(cell, catalogue):
    return StageValidator(cell, catalogue)


def speeds(base: Scenario, *, audited: bool):
    """Variants of a scene, those that are audited or those that are not."""
    for index in range(1, 10_000):
        variant = base.varied(motion=Motion(robot_start_rad=base.motion.robot_start_rad, belt_speed_m_s=index / 1000))
        if (int(variant.id, 16) % AUDIT == 0) is audited:
            yield variant


def test_a_valid_scene_passes(validator, base_scenario):
    proof = validator.check(base_scenario)
    assert proof.findings == ()


def test_the_same_shapes_pass_by_construction(validator, base_scenario):
    first, second = (variant for _, variant in zip(range(2), speeds(base_scenario, audited=False), strict=False))
    assert validator.check(first).basis is Basis.MEASURED
    assert validator.check(second).basis is Basis.BY_CONSTRUCTION


def test_a_new_shape_is_measured(validator, base_scenario, cell):
    fewer = base_scenario.varied(lights=Lights(lights=cell.lights[1:]))
    assert validator.check(fewer).basis is Basis.MEASURED


def test_one_in_a_hundred_is_measured_all_the_same(validator, base_scenario):
    variant = next(speeds(base_scenario, audited=True))
    validator.check(variant)
    assert validator.check(variant).basis is Basis.MEASURED


def test_the_scratch_folder_holds_no_scene_afterwards(validator, base_scenario):
    validator.check(base_scenario)
    kept = [path.suffix for path in validator._folder.root.rglob("*") if path.is_file()]
    assert set(kept) <= {".usda", ".json", ".usdc"}
    assert not list((validator._folder.root / "scenes").rglob("*.usda"))


def test_a_scene_that_contradicts_itself_is_an_error(validator, base_scenario):
    broken = base_scenario.varied(matter=Matter(items=base_scenario.matter.items[1:]))
    with pytest.raises(InvalidRecord, match="scenario: matter"):
        validator.check(broken)


def test_a_writer_that_writes_nonsense_is_caught(cell, catalogue, base_scenario, monkeypatch):
    def wrong(motion):
        return (Attribute("scenegen:robotStartRad", "float[]", tuple(2 * angle for angle in motion.robot_start_rad)),)

    monkeypatch.setattr(writer_module, "motion_attributes", wrong)
    moved = base_scenario.varied(motion=Motion(robot_start_rad=[0.25] * 7))
    (found,) = StageValidator(cell, catalogue).check(moved).findings
    assert (found.check, found.code, found.subjects) == ("usd_stage", "misread", ("motion",))
    assert found.sentence == "the scene reads back with another facet 'motion'"


def test_what_openusd_finds_is_a_finding(cell, catalogue, base_scenario, monkeypatch):
    monkeypatch.setattr(writer_module, "header_text", lambda tree: header_text(tree).replace('    upAxis = "Z"\n', ""))
    found = {one.code: one for one in StageValidator(cell, catalogue).check(base_scenario).findings}
    assert set(found) == {"invalid", "text", "unreadable"}
    assert found["invalid"].sentence == (
        f"scene: /: Stage with root layer <{base_scenario.id}.usda> does not specify an upAxis."
        " (usdGeomValidators:StageMetadataChecker.MissingUpAxisMetadata)"
    )
    assert found["text"].sentence == "the text of the scene layer is not the layer that Sdf would author"
    assert found["unreadable"].sentence == (
        f"{base_scenario.id}.usda: /: upAxis Y, metersPerUnit 1 - accepted: upAxis Z, metersPerUnit 1"
    )


def test_the_scratch_folder_goes_with_the_validator(cell, catalogue, base_scenario):
    short_lived = StageValidator(cell, catalogue)
    short_lived.check(base_scenario)
    folder = short_lived._folder.root
    assert folder.is_dir()
    del short_lived
    gc.collect()
    assert not folder.exists()


def test_the_check_depends_on_everything(cell, catalogue):
    check = usd_stage_check(cell, catalogue)
    assert (check.name, check.tier, check.depends) == ("usd_stage", Tier.USD, frozenset(Facet))
