"""Which entities are too connected to walk through. Pure.

Counted within one tenant, so that another tenant's chunks make no hub and unmake none.
"""

_FEWEST, _MOST = 20, 300  # chunks
_PER_CENT = 100  # of a tenant's readable chunks, one per cent


def is_hub(speaking: int, readable: int, hub_chunks: int | None = None) -> bool:
    """Tell whether so many of a tenant's readable chunks make a hub of what they speak of.

    A note's own chunks do not count: a long note is no hub. `hub_chunks` replaces the rule, which
    is more than 1% of the chunks, but more than 20 at least and never more than 300.
    """
    if hub_chunks is not None:
        return speaking > hub_chunks
    return speaking * _PER_CENT > min(_MOST * _PER_CENT, max(_FEWEST * _PER_CENT, readable))
