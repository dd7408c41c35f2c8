"""The page's checks: what is complete, what is whole, and what somebody can do about the rest."""

import datetime as dt
from dataclasses import replace

import dagster as dg
import pyarrow as pa
import pytest

from kb_assets.chunks.values import broken_rules
from kb_assets.soundness import (
    STALE_AFTER,
    files_are_accounted_for,
    last_build_answers,
    tables_keep_their_contracts,
    vault_was_looked_at,
    vectors_are_complete,
)
from kb_assets.workbench import Workbench
from kb_core.contracts import CHUNKS
from kb_core.ids import partition_key
from kb_serve.dagster_instance import open_instance, register
from kb_serve.definitions import VALUES, WORDS, make_definitions
from resources.home import Home
from tests.kb_command import kb_json
from tests.ready_home import ready_home
from tests.small_vault import put

WORK = partition_key("Work")
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home, vault, _ = ready_home(tmp_path_factory.mktemp("checked"))
    put(vault, "Work/Torn.md", b"# Torn\n\n\x00\x01 not a text\n" * 40)
    kb_json("build", "--home", str(home))
    return Home.open(home)


def test_every_file_is_accounted_for(home):
    found = files_are_accounted_for(home, WORK)

    assert found.counts["files"] == sum(
        found.counts[name] for name in ("indexed", "skipped", "failed")
    )
    assert found.is_passed == (found.counts["failed"] == 0)
    assert not found.is_error


def test_a_note_that_vanished_from_the_notes_is_an_error(home, tmp_path):
    files = home.store.read("files", WORK)
    fake = replace(home, root=tmp_path)
    fake.store.write("files", files, partition=WORK, inputs={}, code_version="1")

    found = files_are_accounted_for(fake, WORK)

    assert (found.is_passed, found.is_error) == (False, True)
    assert "kb build" in found.what_now


def test_all_tables_keep_their_contracts_and_a_damaged_one_is_an_error(home, tmp_path):
    fake = replace(home, root=tmp_path)
    pointer = fake.store.write(
        "chunks", home.store.read("chunks", WORK), partition=WORK, inputs={}, code_version="1"
    )

    assert tables_keep_their_contracts(home, WORK).is_passed
    assert tables_keep_their_contracts(fake, WORK).is_passed
    path = fake.store.root / pointer.files["table"]
    path.write_bytes(path.read_bytes()[:-40])
    assert tables_keep_their_contracts(fake, WORK).is_error


def test_missing_vectors_are_amber_only_where_vectors_are_made(home, tmp_path):
    text = (home.root / "kb.toml").read_text().replace('engine = "auto"', 'engine = "none"')
    (tmp_path / "kb.toml").write_text(text)
    (tmp_path / "data").symlink_to(home.data)

    assert not vectors_are_complete(home, WORK).is_passed
    assert not vectors_are_complete(home, WORK).is_error
    assert vectors_are_complete(Home.open(tmp_path), WORK).is_passed


def test_a_folder_that_was_never_read_says_so(home):
    for check in (files_are_accounted_for, vectors_are_complete):
        found = check(home, "nowhere-00000000")
        assert (found.is_passed, found.is_error) == (False, False)
        assert "kb build" in found.what_now


def test_a_vault_nobody_looked_at_for_a_week_is_amber(home):
    now = dt.datetime.now(dt.UTC)

    assert vault_was_looked_at(home, now).is_passed
    late = vault_was_looked_at(home, now + STALE_AFTER)
    assert not late.is_passed
    assert not late.is_error


def test_a_published_build_answers(home):
    assert last_build_answers(home).is_passed


def row(**changes: object) -> dict[str, object]:
    when = dt.datetime(2024, 3, 1, tzinfo=dt.UTC)
    made: dict[str, object] = {
        **dict.fromkeys(("version_id", "chunk_id", "text_id", "note_id", "title"), "x"),
        **dict.fromkeys(("breadcrumb", "text", "search_text", "written_basis"), "x"),
        **dict.fromkeys(("source_type", "authority_role"), ""),
        **{name: [] for name in ("anchors", "readers", "aliases", "speakers")},
        "is_current": True,
        "is_private": False,
        "may_leave": False,
        "written_is_weak": False,
        "ordinal": 0,
        "tokens": 3,
        "byte_start": 0,
        "byte_end": 5,
        "next_chunk_id": None,
        "written_date": "2024-03",
        "available_at": when,
        "kind": "note",
        "tenant": "main",
    }
    return made | changes


def table(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=CHUNKS.schema)


def test_sound_values_break_no_rule():
    assert broken_rules(table(row())) == []
    assert broken_rules(table()) == []


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ({"tokens": -1}, "tokens"),
        ({"written_date": "14 March"}, "written_date"),
        ({"byte_start": 9}, "byte_end, byte_start"),
        ({"search_text": ""}, "search_text"),
    ],
)
def test_an_unsound_value_breaks_the_rule_of_its_column(change, column):
    found = broken_rules(table(row(), row(chunk_id="y", ordinal=1, **change)))

    assert [(each.column, each.rows) for each in found] == [(column, 1)]


def test_the_values_of_a_folder_are_checked_in_a_run_of_their_own(home):
    definitions = make_definitions(Workbench(home))
    with open_instance(home) as instance:
        register(instance, home)
        runs = {
            job: definitions.resolve_job_def(job).execute_in_process(
                instance=instance, partition_key=WORK, run_config=QUIET
            )
            for job in (VALUES, WORDS)
        }

    seen = {
        job: {each.check_name: each for each in run.get_asset_check_evaluations()}
        for job, run in runs.items()
    }
    assert seen[VALUES]["values_are_sound"].passed
    assert set(seen[WORDS]) == {
        "files_are_accounted_for",
        "tables_keep_their_contracts",
        "spending_is_decided",
    }
    assert seen[WORDS]["files_are_accounted_for"].severity == dg.AssetCheckSeverity.WARN
