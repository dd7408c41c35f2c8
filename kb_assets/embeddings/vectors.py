"""Gather a folder's vectors from the cache, in the order of its plan. Safe to repeat.

Only texts all of whose passages have a vector take part: a text scored by half its passages
would rank by chance. What comes out depends on the plan and on which vectors exist, never on
when, in which order or in which batches they were made.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kb_assets.embedding_work import EmbedPlan, gather
from kb_core.contracts import PASSAGES
from resources.caches import EmbeddingCache

VERSION = "1"  # raise it when the same plan and cache would give other arrays


def assemble(plan: EmbedPlan, cache: EmbeddingCache) -> tuple[pa.Table, NDArray[np.float32]]:
    """Return the passages of complete texts and their unit vectors, (rows, dims) float32.

    Raises StoreError if the cache is damaged.
    """
    matrix, has_vector = gather(plan.profile, plan.passages["passage_hash"].to_pylist(), cache)
    text_ids = plan.passages["text_id"]
    incomplete = text_ids.filter(pa.array(~has_vector)).unique()
    is_complete = pc.invert(pc.is_in(text_ids, value_set=incomplete))
    rows = plan.passages.filter(is_complete).combine_chunks()
    return PASSAGES.check(rows), matrix[np.asarray(is_complete, dtype=bool)]
