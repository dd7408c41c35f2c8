"""How every stage reports to Dagster: counts and a content-based data version, never note text."""

import dagster as dg

from kb_assets.outcome import Outcome


def stage_result(
    outcome: Outcome, **metadata: float | str | dg.MetadataValue
) -> dg.MaterializeResult:
    """Wrap what a stage made. Keys are equal on every run, so that the page plots them."""
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": outcome.rows,
            "from_cache": int(outcome.is_cached),
            **outcome.counts,
            **metadata,
        },
        data_version=dg.DataVersion(outcome.hash),
    )
