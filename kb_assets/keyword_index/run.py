"""Index a folder's distinct search texts for keyword search. Safe to repeat."""

import pyarrow.compute as pc

from kb_assets.outcome import Outcome, are_held, input_hashes, outcome
from kb_search.keyword import VERSION, build_postings
from resources.home import Home


def run(home: Home, partition: str) -> Outcome:
    """Write the folder's postings, over its texts in the order of their first chunk."""
    inputs = input_hashes(home, ["chunks"], partition)
    held = home.store.holds("keyword_index", partition, inputs, VERSION)
    if held:
        return outcome("keyword_index", partition, [held], is_cached=True)
    with home.leases.hold(f"keyword_index/{partition}"):
        chunks = home.store.read("chunks", partition, ["text_id", "search_text"])
        # `unique` keeps the order of first appearance: the order readers number docs by.
        first = pc.index_in(
            pc.unique(chunks["text_id"]), value_set=chunks["text_id"].combine_chunks()
        )
        texts = chunks["search_text"].take(first).to_pylist()
        pointer = home.store.write_arrays(
            "keyword_index",
            build_postings(texts),
            partition=partition,
            rows=len(texts),
            inputs=inputs,
            code_version=VERSION,
        )
    return outcome("keyword_index", partition, [pointer], is_cached=False)


def is_fresh(home: Home, partition: str) -> bool:
    """Tell whether a run would find nothing to do."""
    inputs = input_hashes(home, ["chunks"], partition)
    return are_held(home, ["keyword_index"], partition, inputs, VERSION)
