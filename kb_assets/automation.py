"""The one condition that drives the assets that are not split by folder.

`eager()` alone ignores data versions, so that a rerun over equal input would wake everything
downstream; and it waits for partitions that are missing, though a folder may wait for long. Nor
does it wait while vectors are made: that may take hours, and words come first. It does wait for a
folder that is being read until its last stage is done, or links would be resolved for its notes
and, a moment later, everything be put together for its index.
"""

import dagster as dg

_ANY_IN_PROGRESS = dg.AutomationCondition.any_deps_in_progress()
_VECTORS = dg.AssetSelection.assets("embeddings", "line_vectors")
# The last stages of a folder's run.
_FOLDER_IS_READ = dg.AutomationCondition.asset_matches(
    dg.AssetKey("keyword_index"), dg.AutomationCondition.in_progress()
) | dg.AutomationCondition.asset_matches(
    dg.AssetKey("spending_plan"), dg.AutomationCondition.in_progress()
)

WHEN_CONTENT_CHANGED = (
    dg.AutomationCondition.eager()
    .without(~dg.AutomationCondition.any_deps_missing())
    .replace("newly_updated", dg.AutomationCondition.data_version_changed())
    .replace(_ANY_IN_PROGRESS, _ANY_IN_PROGRESS.ignore(_VECTORS))
) & ~_FOLDER_IS_READ
