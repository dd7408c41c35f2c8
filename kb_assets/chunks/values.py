"""What must hold of every value in a folder's chunks, as one Great Expectations suite.

Contracts say which columns and types a table has; these rules say what its values mean. Reads a
table, changes nothing. Importing the package takes 3 to 7 s, so only who calls this pays for it.
"""

import os
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

# Half a note of hard text may be one chunk: a fence or a table is never cut.
_MOST_TOKENS = 200_000
_PARTIAL_DATE = r"^\d{4}(-\d{2}(-\d{2})?)?$"
_COLUMNS = [
    "version_id", "chunk_id", "text_id", "note_id", "ordinal", "title", "breadcrumb", "text",
    "search_text", "tokens", "byte_start", "byte_end", "written_date", "written_basis", "kind",
]  # fmt: skip


@dataclass(frozen=True)
class BrokenRule:
    """A rule that some rows break. Never holds a value of theirs."""

    rule: str
    column: str
    rows: int
    percent: float


def broken_rules(chunks: pa.Table) -> list[BrokenRule]:
    """Return which rules a folder's chunks break, in the order of the suite; none for no rows."""
    if not chunks.num_rows:
        return []
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_pandas("folder")
    batch = source.add_dataframe_asset("chunks").add_batch_definition_whole_dataframe("all")
    frame = chunks.select(_COLUMNS).to_pandas()
    suite = gx.ExpectationSuite(name="chunks", expectations=_rules(gx.expectations))
    found = batch.get_batch({"dataframe": frame}).validate(suite)
    return [_broken(result) for result in found.results if not result.success]


def _rules(expect: Any) -> list[Any]:
    filled = ("version_id", "chunk_id", "text_id", "note_id", "text", "search_text", "kind")
    return [
        *(expect.ExpectColumnValuesToNotBeNull(column=name) for name in filled),
        *(expect.ExpectColumnValueLengthsToBeBetween(column=name, min_value=1) for name in filled),
        expect.ExpectCompoundColumnsToBeUnique(column_list=["version_id", "chunk_id"]),
        expect.ExpectCompoundColumnsToBeUnique(column_list=["version_id", "ordinal"]),
        expect.ExpectColumnValuesToBeBetween(column="ordinal", min_value=0),
        expect.ExpectColumnValuesToBeBetween(column="tokens", min_value=0, max_value=_MOST_TOKENS),
        expect.ExpectColumnValuesToBeBetween(column="byte_start", min_value=0),
        expect.ExpectColumnPairValuesAToBeGreaterThanB(
            column_A="byte_end", column_B="byte_start", or_equal=True
        ),
        expect.ExpectColumnValuesToMatchRegex(column="written_date", regex=_PARTIAL_DATE),
    ]


def _broken(result: Any) -> BrokenRule:
    given = result.expectation_config.kwargs
    columns = given.get("column") or given.get("column_list") or _pair(given)
    name = columns if isinstance(columns, str) else ", ".join(columns)
    return BrokenRule(
        rule=result.expectation_config.type,
        column=name,
        rows=int(result.result.get("unexpected_count") or 0),
        percent=round(float(result.result.get("unexpected_percent") or 0.0), 2),
    )


def _pair(given: Any) -> list[str]:
    return [given["column_A"], given["column_B"]]
