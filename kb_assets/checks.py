"""The page's checks: names, partitions and severity. What they look at stands in `soundness`.

Red means that something is broken, amber that somebody can act; both go when the cause has gone
and the check ran again. The cheap checks run with their stage; `values_are_sound` and
`vault_was_looked_at` have a job and a schedule of their own.
"""

import datetime as dt
import warnings

import dagster as dg

from kb_assets.chunks.values import broken_rules
from kb_assets.failures import without_text
from kb_assets.partitions import FOLDERS
from kb_assets.soundness import (
    Finding,
    files_are_accounted_for,
    last_build_answers,
    spending_is_decided,
    tables_keep_their_contracts,
    vault_was_looked_at,
    vectors_are_complete,
)
from kb_assets.workbench import Workbench

# Dagster calls checks by partition a preview, and would say so at every start.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

Bench = dg.ResourceParam[Workbench]


@dg.asset_check(asset="notes", partitions_def=FOLDERS, name="files_are_accounted_for")
@without_text
def files_check(context: dg.AssetCheckExecutionContext, bench: Bench) -> dg.AssetCheckResult:
    """Indexed + skipped + failed = files on the disk. Amber: some could not be read."""
    return _result(files_are_accounted_for(bench.home, context.partition_key))


@dg.asset_check(asset="chunks", partitions_def=FOLDERS, name="tables_keep_their_contracts")
@without_text
def contracts_check(context: dg.AssetCheckExecutionContext, bench: Bench) -> dg.AssetCheckResult:
    """Columns, types, nulls and keys of every table of the folder are what they should be."""
    return _result(tables_keep_their_contracts(bench.home, context.partition_key))


@dg.asset_check(asset="chunks", partitions_def=FOLDERS, name="values_are_sound")
@without_text
def values_check(context: dg.AssetCheckExecutionContext, bench: Bench) -> dg.AssetCheckResult:
    """The values of the folder's passages make sense: a Great Expectations suite."""
    store = bench.home.store
    if store.pointer("chunks", context.partition_key) is None:
        return _result(Finding(False, False, "`kb build` reads it first"))
    chunks = store.read("chunks", context.partition_key)
    broken = broken_rules(chunks)
    lines = ["| rule | column | rows | % |", "|---|---|---:|---:|"]
    lines += [f"| {each.rule} | {each.column} | {each.rows} | {each.percent} |" for each in broken]
    table = dg.MetadataValue.md("\n".join(lines) if broken else "Every rule holds.")
    return dg.AssetCheckResult(
        passed=not broken,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={
            "rows": chunks.num_rows,
            "broken_rules": len(broken),
            "rules": table,
            "what_now": "a fault of the program: please report it" if broken else "nothing to do",
        },
    )


@dg.asset_check(asset="embeddings", partitions_def=FOLDERS, name="vectors_are_complete")
@without_text
def vectors_check(context: dg.AssetCheckExecutionContext, bench: Bench) -> dg.AssetCheckResult:
    """Every text has its vectors. Amber: some are still found by their words alone."""
    return _result(vectors_are_complete(bench.home, context.partition_key))


@dg.asset_check(asset="spending_plan", partitions_def=FOLDERS, name="spending_is_decided")
@without_text
def spending_check(context: dg.AssetCheckExecutionContext, bench: Bench) -> dg.AssetCheckResult:
    """Nothing waits for somebody's word on what it may cost. Amber: something does."""
    return _result(spending_is_decided(bench.home, context.partition_key))


@dg.asset_check(asset="published", name="last_build_answers")
@without_text
def answers_check(bench: Bench) -> dg.AssetCheckResult:
    """The newest build is the one that answers. Amber: it was kept back, or another is pinned."""
    return _result(last_build_answers(bench.home))


@dg.asset_check(asset="published", name="vault_was_looked_at")
@without_text
def freshness_check(bench: Bench) -> dg.AssetCheckResult:
    """Somebody looked for changes in the vault within the last eight days."""
    return _result(vault_was_looked_at(bench.home, dt.datetime.now(dt.UTC)))


CHECKS = [
    files_check,
    contracts_check,
    values_check,
    vectors_check,
    spending_check,
    answers_check,
    freshness_check,
]


def _result(found: Finding) -> dg.AssetCheckResult:
    error, warning = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
    return dg.AssetCheckResult(
        passed=found.is_passed,
        severity=error if found.is_error else warning,
        metadata={**found.counts, "what_now": dg.MetadataValue.md(found.what_now)},
    )
