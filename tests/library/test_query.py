"""Questions in SQL: what is seen of a version, and that nothing else can be reached."""

import pytest

from library.curated import ACCEPTED, DROPPED, QUARANTINED, Action, decision
from library.query import Answer, ask
from library.tables import CURATION, TABLES
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.errors import InvalidOption, LibraryError, UnknownName
from scenegen.imaging.meters import Meters

TABLES_ACCEPTED = (
    "scenarios, all_scenarios, severities, certificates, facets, verdicts, attempts, curation, meters, runs, episodes,"
    " uses"
)


@pytest.fixture(scope="module")
def snapshot(kept_folder):
    return VersionedLibrary.open(kept_folder).at()


def answered(answer: Answer) -> list[tuple]:
    return list(answer.rows)


def test_scenes_are_counted_by_axis_and_level(snapshot):
    answer = ask(snapshot, "SELECT axis, level, count(*) AS n FROM scenarios GROUP BY ALL ORDER BY ALL NULLS FIRST")
    assert answer.columns == ("axis", "level", "n")
    assert answered(answer) == [(None, 0, 1), ("lighting", 1, 3), ("lighting", 2, 2), ("lighting", 3, 2)]


def test_a_condition_finds_what_reading_all_rows_finds(snapshot):
    rows = [row for row in snapshot.rows() if row.provenance.axes and row.provenance.axes[0].level == 2]
    answer = ask(snapshot, "FROM scenarios SELECT scenario_id WHERE axis = 'lighting' AND level = 2 ORDER BY index")
    assert [one for (one,) in answer.rows] == [row.scenario_id for row in rows]


def test_severities_come_one_a_row_with_their_level(snapshot):
    sql = "SELECT axis, level, quantity, value, unit FROM severities ORDER BY value LIMIT 2"
    assert answered(ask(snapshot, sql)) == [
        ("lighting", 1, "temperature", 3000.0, "K"),
        ("lighting", 2, "temperature", 3010.0, "K"),
    ]


def test_meters_come_one_a_target_and_camera_with_a_column_each(snapshot, scene_maker):
    scenario = next(iter(snapshot.rows())).scenario_id
    sql = f"SELECT * EXCLUDE (scenario_id, version) FROM meters WHERE scenario_id = '{scenario}'"
    read = scene_maker.metered.read(snapshot.scenario(snapshot.find(scenario)))
    wanted = [
        (camera, name, *(getattr(readings.meters(name), meter) for meter in Meters.model_fields))
        for camera, readings in read.items()
        for name in readings.names
    ]
    found = answered(ask(snapshot, sql))
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    for row, known in zip(found, wanted, strict=True):
        assert row[2:] == pytest.approx(known[2:], rel=1e-4)


def test_tables_are_joined_by_a_column_of_one_name(snapshot):
    joined = "meters JOIN scenarios USING (scenario_id) JOIN verdicts USING (scenario_id)"
    sql = f"SELECT DISTINCT axis FROM {joined} ORDER BY ALL"
    assert answered(ask(snapshot, sql)) == [("lighting",), (None,)]


@pytest.mark.parametrize("table", [*TABLES, "all_scenarios", "certificates", "severities"])
def test_every_table_can_be_asked_even_if_it_has_no_rows(table, snapshot):
    counted = "count(DISTINCT (scenario_id, camera))" if table == "meters" else "count(*)"
    [(count,)] = answered(ask(snapshot, f"SELECT {counted} FROM {table}"))
    wanted = {"scenarios": 8, "all_scenarios": 8, "severities": 7, "runs": 0, "episodes": 0, "certificates": 0}
    known = wanted.get(table)
    assert count == (snapshot.table(table).rows if known is None else known)


def test_members_are_what_the_snapshot_has_with_split_and_review(kept, scene_maker):
    ids = [scene_maker.scenario(index).id for index in range(3)]
    decided = [
        (Action.DROP, ids[0], DROPPED),
        (Action.QUARANTINE, ids[1], QUARANTINED),
        (Action.REVIEW, ids[2], ACCEPTED),
        (Action.SPLIT, scene_maker.base.id, "holdout"),
    ]
    rows = [decision(*one, note="it's a test", author="tests", time="2026-02-01") for one in decided]
    kept.publish(Changes({CURATION.name: rows}), Signature("decide"))
    snapshot = kept.at()
    told = answered(ask(snapshot, "SELECT scenario_id, split, review FROM scenarios"))
    assert sorted(one for one, _, _ in told) == sorted(row.scenario_id for row in snapshot.rows())
    assert {split for _, split, _ in told} == {"holdout"}
    assert [one for one, _, review in told if review == "accepted"] == [ids[2]]
    assert answered(ask(snapshot, "SELECT count(*) FROM all_scenarios")) == [(8,)]
    assert snapshot.scenes == len(told) == 6


def test_an_older_version_answers_as_it_was(kept_folder):
    [(count,)] = answered(ask(VersionedLibrary.open(kept_folder).at("v1"), "SELECT count(*) FROM scenarios"))
    assert count == 5


def test_an_empty_library_answers_with_nothing(tmp_path):
    snapshot = VersionedLibrary.create(tmp_path / "empty").at()
    assert answered(ask(snapshot, "SELECT * FROM scenarios")) == []
    assert answered(ask(snapshot, "SELECT * FROM severities")) == []


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("selec 1", 'query not understood (syntax error at or near "selec") - accepted: one SELECT over '),
        ("", "query of 0 statements - accepted: one SELECT"),
        ("SELECT 1; SELECT 2", "query of 2 statements - accepted: one SELECT"),
        ("DELETE FROM scenarios", "query that begins with DELETE - accepted: one SELECT"),
        ("COPY scenarios TO 'x.csv'", "query that begins with COPY - accepted: one SELECT"),
        ("SET enable_external_access = true", "query that begins with SET - accepted: one SELECT"),
        ("INSTALL httpfs", "query that begins with LOAD - accepted: one SELECT"),
        ("ATTACH 'x.db'", "query that begins with ATTACH - accepted: one SELECT"),
        (
            "SELECT axis, count(*) FROM scenarios",
            'query not understood (column "axis" must appear in the GROUP BY clause',
        ),
        ("SELECT CAST(axis AS INT) FROM scenarios", "query not understood (Could not convert string "),
    ],
)
def test_a_wrong_question_is_refused_in_one_sentence(sql, sentence, snapshot):
    with pytest.raises(InvalidOption) as caught:
        answered(ask(snapshot, sql))
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT content FROM read_text('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM sniff_csv('{file}')",
        "SELECT * FROM scenarios WHERE scenario_id IN (SELECT content FROM read_text('{file}'))",
    ],
)
def test_no_file_is_read(sql, snapshot, tmp_path):
    file = tmp_path / "secret.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises((InvalidOption, UnknownName)) as caught:
        answered(ask(snapshot, sql.format(file=file, folder=tmp_path)))
    if isinstance(caught.value, InvalidOption):
        assert str(caught.value) == f"query that reads or writes files - accepted: one SELECT over {TABLES_ACCEPTED}"


def test_settings_cannot_be_unlocked(snapshot):
    sql = "SELECT name, value FROM duckdb_settings() WHERE name IN ('enable_external_access', 'temp_directory')"
    assert sorted(answered(ask(snapshot, sql))) == [("enable_external_access", "false"), ("temp_directory", "")]


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT * FROM scenrios", "unknown table 'scenrios' - did you mean 'scenarios'?"),
        ("SELECT axs FROM scenarios", "unknown column 'axs' - did you mean 'axis'?"),
        ("SELECT s.zz FROM runs s", "unknown column 'zz' - accepted: conditions, row_hash, run_id, subject"),
        (
            "SELECT * FROM splitting_hairs",
            "unknown table 'splitting_hairs' - accepted: all_scenarios, attempts, certificates, curation, episodes, "
            "facets, meters, runs, scenarios, severities, uses, verdicts",
        ),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(sql, sentence, snapshot):
    with pytest.raises(UnknownName) as caught:
        ask(snapshot, sql)
    assert str(caught.value) == sentence


def test_a_damaged_table_gives_no_answer(kept):
    path = next(one for one in sorted(kept.at().commit.files) if "scenarios.lance/data" in one)
    target = kept.files.local(path)
    data = bytearray(target.read_bytes())
    data[len(data) // 2] ^= 1
    target.write_bytes(data)
    with pytest.raises(LibraryError, match="damaged: its SHA-256 is not"):
        ask(kept.at(), "SELECT count(*) FROM scenarios")
    assert answered(ask(kept.at(), "SELECT count(*) FROM attempts")) == [(7,)]
