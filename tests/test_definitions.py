"""Dagster's side: it loads with an empty environment, and says what a newcomer needs."""

import os
import subprocess
import sys

import dagster as dg
import pytest

from kb_assets.workbench import Workbench
from kb_serve.definitions import make_definitions
from resources.home import Home
from tests.kb_command import ROOT, make_home
from tests.small_vault import make_vault


@pytest.fixture
def home(tmp_path):
    return Home.open(make_home(make_vault(tmp_path / "vault"), tmp_path / "home"))


def assets(definitions: dg.Definitions) -> list[dg.AssetsDefinition]:
    return list(definitions.resolve_asset_graph().assets_defs)


def test_definitions_load_with_an_empty_environment_and_no_network():
    done = subprocess.run(
        [
            "/usr/bin/env",
            "unshare",
            "-rn",
            sys.executable,
            "-c",
            "import kb_serve.definitions as d; print(d.defs)",
        ],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr:
        pytest.skip("this system lets no user make a network namespace")

    assert done.returncode == 0, done.stderr


def test_every_asset_has_a_numbered_group_a_sentence_and_a_cost():
    for asset in assets(make_definitions()):
        for key in asset.keys:
            assert asset.group_names_by_key[key][0].isdigit()
            assert asset.descriptions_by_key[key].rstrip().endswith(".")
            assert "cost" in asset.tags_by_key[key]
            assert asset.code_versions_by_key[key]


def test_a_folder_can_be_materialised_alone_on_an_instance_of_its_own(home):
    from kb_assets.placeholders.listing import begin_listing

    bench = Workbench(home)
    begin_listing(home, bench.started)
    key = next(key for key, path in home.folders().items() if path == "Work")
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("folder", [key])
        result = (
            make_definitions(bench)
            .resolve_job_def("words")
            .execute_in_process(instance=instance, partition_key=key)
        )

    kept = home.store.pointer("chunks", key)
    (chunks,) = result.asset_materializations_for_node("chunks")
    assert chunks.metadata["dagster/row_count"].value == kept.rows
    assert kept.rows >= 4
    assert "dagster/data_version" in chunks.tags


def test_equal_notes_give_equal_data_versions_so_nothing_downstream_is_stale(home):
    from kb_assets.chunks.run import run as run_chunks
    from kb_assets.notes.run import run as run_notes
    from kb_assets.placeholders.listing import begin_listing
    from kb_assets.placeholders.run import run as look

    bench = Workbench(home)
    begin_listing(home, bench.started)
    key = next(iter(home.folders()))
    look(home, key, bench.started)

    first = [run_notes(home, key), run_chunks(home, key)]
    second = [run_notes(home, key), run_chunks(home, key)]

    assert [made.hash for made in first] == [made.hash for made in second]
    assert [made.is_cached for made in second] == [True, True]


def test_unpartitioned_assets_follow_a_changed_folder_by_themselves(home):
    from kb_assets.placeholders.listing import begin_listing

    bench = Workbench(home)
    begin_listing(home, bench.started)
    definitions = make_definitions(bench)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("folder", list(home.folders()))
        before = dg.evaluate_automation_conditions(definitions, instance)
        job = definitions.resolve_job_def("words")
        job.execute_in_process(instance=instance, partition_key=next(iter(home.folders())))
        after = dg.evaluate_automation_conditions(definitions, instance, cursor=before.cursor)

    assert after.get_num_requested(dg.AssetKey("note_links")) == 1


def test_a_partition_that_is_no_folder_fails_with_words(home):
    bench = Workbench(home)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("folder", ["typed-by-hand"])
        result = (
            make_definitions(bench)
            .resolve_job_def("words")
            .execute_in_process(
                instance=instance, partition_key="typed-by-hand", raise_on_error=False
            )
        )

    assert not result.success
    from kb_serve.run_events import failures_of

    assert "kb folders" in failures_of(result)[0]
