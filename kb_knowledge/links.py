"""Links of a view, put together from what its chunks say one by one. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from kb_core.ids import content_id
from kb_knowledge.records import ChunkRow, Link, LinkSaid

MOST_PHRASES = 5


class LinkSeen(NamedTuple):
    """One observation, with what its ends mean."""

    source_id: str
    target_id: str
    said: LinkSaid
    chunk: ChunkRow


def links_of(seen: Iterable[LinkSeen]) -> list[Link]:
    """Return each link once, by id: how often it is said, in which words, where and when."""
    found: dict[tuple[str, str, str], list[LinkSeen]] = defaultdict(list)
    for each in seen:
        found[each.source_id, each.said.type, each.target_id].append(each)
    return sorted(
        _alone(*key, group[0]) if len(group) == 1 else _link(*key, group)
        for key, group in found.items()
    )


def _alone(source_id: str, kind: str, target_id: str, seen: LinkSeen) -> Link:
    """Return a link that is said once, as most are: in a third of the time."""
    said, chunk = seen.said, seen.chunk
    date = None if chunk.written_is_weak else chunk.written_date
    return Link(
        content_id(source_id, kind, target_id), source_id, target_id, kind, (said.label,), 1,
        (said.phrase,) if said.phrase else (), (chunk.chunk_id,), (said.modality,), date, date,
        (said.extractor,),
    )  # fmt: skip


def _link(source_id: str, kind: str, target_id: str, seen: list[LinkSeen]) -> Link:
    dates = [each.chunk.written_date for each in seen if not each.chunk.written_is_weak]
    written = [date for date in dates if date]
    phrases = sorted({each.said.phrase for each in seen if each.said.phrase})
    return Link(
        link_id=content_id(source_id, kind, target_id),
        source_id=source_id,
        target_id=target_id,
        type=kind,
        labels=tuple(sorted({each.said.label for each in seen})),
        times=len(seen),
        phrases=tuple(phrases[:MOST_PHRASES]),
        chunk_ids=tuple(sorted({each.chunk.chunk_id for each in seen})),
        modalities=tuple(sorted({each.said.modality for each in seen})),
        first_seen=min(written, default=None),
        last_seen=max(written, default=None),
        extractors=tuple(sorted({each.said.extractor for each in seen})),
    )
