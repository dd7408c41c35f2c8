"""The one condition that drives the assets that are not split by folder.

`eager()` alone ignores data versions, so that a rerun over equal input would wake everything
downstream; and it waits for partitions that are missing, though a folder may wait for long.
"""

import dagster as dg

WHEN_CONTENT_CHANGED = (
    dg.AutomationCondition.eager()
    .without(~dg.AutomationCondition.any_deps_missing())
    .replace("newly_updated", dg.AutomationCondition.data_version_changed())
)
