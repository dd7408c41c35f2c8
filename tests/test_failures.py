"""What fails inside a stage is told without a word of a note, wherever Dagster puts it."""

import errno
import inspect
import sqlite3

import dagster as dg
import pytest

from eval_assets import assets as eval_assets_module
from kb_assets import checks
from kb_assets.failures import without_text
from kb_core.errors import DefectError, KbError, StoreError
from kb_serve.definitions import make_definitions

CANARY = "quetzalcoatlus"


def deeply_failing(problem: Exception):
    @without_text
    def stage():
        try:
            raise ValueError(CANARY)
        except ValueError:
            raise problem  # noqa: B904 - what led to it must not be shown either

    return stage


def test_an_unexpected_error_says_its_kind_and_its_place_alone():
    with pytest.raises(DefectError) as told:
        deeply_failing(KeyError(CANARY))()

    assert "KeyError at test_failures.py:" in str(told.value)
    assert "in stage" in str(told.value)
    assert CANARY not in str(told.value)


@pytest.mark.parametrize(
    "problem", [StoreError("3 rows"), OSError(errno.ENOSPC, "No space left", "data/x")]
)
def test_an_error_on_purpose_and_one_of_the_system_keep_their_words(problem):
    with pytest.raises(type(problem)) as told:
        deeply_failing(problem)()

    assert told.value is problem
    assert told.value.__suppress_context__


def test_every_asset_and_check_of_the_graph_is_guarded():
    definitions = make_definitions()
    ours = [asset for asset in definitions.assets if isinstance(asset, dg.AssetsDefinition)]

    assert len(ours) >= 10
    for each in [*ours, *checks.CHECKS]:
        compute = each.op.compute_fn.decorated_fn
        assert inspect.unwrap(compute) is not compute, each.op.name
    assert eval_assets_module.without_text is without_text


@pytest.mark.parametrize("kind", [ValueError, KbError])
def test_no_database_of_dagster_holds_what_a_stage_choked_on(tmp_path, kind):
    @dg.asset
    @without_text
    def choking():
        raise kind("3 rows") from ValueError(CANARY) if kind is KbError else kind(CANARY)

    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        result = dg.materialize([choking], instance=instance, raise_on_error=False)

    assert not result.success
    databases = [path for path in tmp_path.rglob("*.db") if path.is_file()]
    assert databases
    for path in databases:
        with sqlite3.connect(path) as db:
            assert CANARY not in "\n".join(db.iterdump())
