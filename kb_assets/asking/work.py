"""What each stage asks of one folder's notes, as work whose price is known before it is done.

The stages and the plan make it here, so that both mean the same requests. Pure but for looking up
what was answered already, which decides how vague links are put together.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from kb_assets.asking import chunk_requests, conversation_requests, link_requests
from kb_assets.asking.vague_links import PROMPT_VERSION as LINKS_VERSION
from kb_assets.asking.vague_links import VagueLink, vague_links
from kb_assets.paid_work import Reader, Work, distinct, may_be_sent
from kb_core.ontology import Ontology
from resources.home import Home
from resources.paid_items import Item
from resources.paid_store import PaidStore

TRIAGE, EXTRACTIONS, RETYPING = "triage", "extractions", "retyping"

Place = tuple[str, str]  # version, chunk


class AskedChunks(NamedTuple):
    """The work over a folder's chunks, and by which key each was asked about."""

    work: Work
    keys: Mapping[Place, str]
    barred: frozenset[Place]


class AskedConversations(NamedTuple):
    """The work over saved conversations, and by which key each version was asked about."""

    work: Work
    keys: Mapping[str, str]


class AskedLinks(NamedTuple):
    """The work over vague links, each with the key that its own answer has."""

    work: Work
    links: Sequence[VagueLink]


def of_conversations(home: Home, chunks: pa.Table, reader: Reader) -> AskedConversations:
    """Return what is asked about saved conversations: whether they are worth reading."""
    mask = may_be_sent(home, chunks, reader)
    asked = conversation_requests.requests_for(_only(chunks, mask), reader.identity)
    items = (Item(each.request, (each.request.key,), each.expected_output) for each in asked)
    work = Work(TRIAGE, conversation_requests.PROMPT_VERSION, distinct(items))
    return AskedConversations(work, {each.version_id: each.request.key for each in asked})


def of_chunks(
    home: Home, chunks: pa.Table, left: Collection[str], reader: Reader, ontology: Ontology
) -> AskedChunks:
    """Return what is asked about a folder's chunks; `left` are versions not worth reading."""
    mask = may_be_sent(home, chunks, reader)
    versions = chunks["version_id"].to_pylist()
    places = list(zip(versions, chunks["chunk_id"].to_pylist(), strict=True))
    is_wanted = [version not in left for version in versions]
    sent = [one and other for one, other in zip(mask, is_wanted, strict=True)]
    asked = chunk_requests.requests_for(_only(chunks, sent), reader.identity, ontology)
    items = (Item(each.request, (each.request.key,), each.expected_output) for each in asked)
    barred = frozenset(
        place for place, may, wanted in zip(places, mask, is_wanted, strict=True) if wanted > may
    )
    work = Work(EXTRACTIONS, chunk_requests.PROMPT_VERSION, distinct(items), len(barred))
    keys = {(each.version_id, each.chunk_id): each.request.key for each in asked}
    return AskedChunks(work, keys, barred)


def of_links(
    home: Home,
    chunks: pa.Table,
    links: pa.Table,
    reader: Reader,
    ontology: Ontology,
    store: PaidStore,
) -> AskedLinks:
    """Return what is asked about vague links of a folder: those without an answer, together."""
    mask = may_be_sent(home, chunks, reader)
    columns = (chunks["version_id"].to_pylist(), chunks["chunk_id"].to_pylist())
    open_places = {
        place for place, may in zip(zip(*columns, strict=True), mask, strict=True) if may
    }
    vague = vague_links(links, reader.identity, ontology)
    sent = [each for each in vague if (each.version_id, each.chunk_id) in open_places]
    known = store.answers([each.key for each in sent])
    items = [
        Item(each.request, each.parts, each.expected_output)
        for each in link_requests.requests_for(sent, reader.identity, ontology, known)
    ]
    barred = len(vague) - len(sent)
    return AskedLinks(Work(RETYPING, LINKS_VERSION, distinct(items), barred), sent)


def _only(table: pa.Table, mask: Sequence[bool]) -> pa.Table:
    return table.filter(pa.array(mask, pa.bool_()))
