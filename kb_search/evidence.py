"""What the chunks of a view say, as rows: the observations the build made, filtered, not read anew.

Readable chunks give all they say; remembered ones, of older versions, give claims alone. What the
policy leaves out is not among the rows, and nothing about it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from kb_core.contracts import CONTRACTS
from kb_knowledge.records import (
    SELF,
    ChunkRow,
    ClaimSaid,
    Evidence,
    LinkSaid,
    Mention,
    Reference,
)
from kb_search.build import PublishedBuild
from kb_search.folder import Folder, booleans
from kb_search.policy import Policy
from kb_search.readable import micros
from kb_search.view import EVERYTHING, View
from resources.tables import read_parquet

OBSERVATIONS = ("mentions", "link_observations", "claim_observations")
RETYPED = "retyped"  # which of the link observations have a better type by now
MADE_FROM = ("notes", "chunks", *OBSERVATIONS, RETYPED)  # of each folder
_CHUNK = [
    "version_id", "chunk_id", "note_id", "tenant", "title", "aliases", "kind", "written_date",
    "written_is_weak",
]  # fmt: skip
_VERSION = ["version_id", "version", "observed_at"]
_KEY = ["version_id", "chunk_id"]
_MENTION = [*_KEY, "subject_kind", "subject", "type", "basis", "name", "extractor"]
_LINK = [
    *_KEY, "source_kind", "source", "target_kind", "target", "type", "label", "phrase", "modality",
    "valid_from", "extractor",
]  # fmt: skip
_RETYPED = [*_KEY, "ordinal", "type"]
_CLAIM = [
    *_KEY, "subject_kind", "subject", "attribute", "value", "quote", "modality", "valid_from",
    "valid_to", "basis", "extractor",
]  # fmt: skip

_ReadTable = Callable[[str, list[str]], pa.Table]
_Key = tuple[str, str]  # version, chunk


class _Part(NamedTuple):
    """One folder's share."""

    chunks: list[ChunkRow]
    mentions: list[Mention]
    links: list[LinkSaid]
    claims: list[ClaimSaid]


def evidence_of(build: PublishedBuild, view: View) -> Evidence | None:
    """Return what the chunks of a view say; None in a build that was made without observations."""
    if not has_observations(build):
        return None
    as_of = view.policy.as_of
    parts = (
        _part(_tables_of(folder), readable, remembered, view.policy)
        for folder, readable, remembered in _masks(build, view)
        if any(readable) or any(remembered)
    )
    return replace(_joined(parts), as_of=None if as_of is None else micros(as_of))


def has_observations(build: PublishedBuild) -> bool:
    """Tell whether any folder's chunks were read for what they say."""
    return any(folder.has(name) for folder in build.folders for name in OBSERVATIONS)


def evidence_of_files(folders: Mapping[str, Mapping[str, Path]]) -> Evidence:
    """Return what every chunk of some folders says: of present versions, and remembered ones.

    `folders` holds each folder's stored files by the tables of MADE_FROM; what was never made is
    not among them. Raises StoreError if one is damaged.
    """
    return _joined(_whole_part(folders[partition]) for partition in sorted(folders))


def is_whole(build: PublishedBuild, view: View) -> bool:
    """Tell whether a view is the one the build's own knowledge was made of."""
    policy = view.policy
    if policy.as_of is not None or policy.excluded_links or policy.excluded_properties:
        return False
    if not view.is_whole_present(build):
        return False
    return all(
        bool((view.remembered(folder) == ~folder.rows.is_current).all()) for folder in build.folders
    )


def _tables_of(folder: Folder) -> _ReadTable:
    def read(name: str, columns: list[str]) -> pa.Table:
        held = folder.has(name)
        return folder.table(name, columns) if held else CONTRACTS[name].empty().select(columns)

    return read


def _masks(
    build: PublishedBuild, view: View
) -> Iterator[tuple[Folder, Sequence[bool], Sequence[bool]]]:
    """Yield every folder with its readable and its remembered rows."""
    seen = {folder.partition: mask for folder, mask in zip(view.folders, view.masks, strict=True)}
    for folder in build.folders:
        remembered = view.remembered(folder).tolist()
        mask = seen.get(folder.partition)
        yield folder, [False] * len(remembered) if mask is None else mask.tolist(), remembered


def _whole_part(files: Mapping[str, Path]) -> _Part:
    def read(name: str, columns: list[str]) -> pa.Table:
        if name in files:
            return read_parquet(files[name], columns)
        return CONTRACTS[name].empty().select(columns)

    is_current = read("chunks", ["is_current"])["is_current"].to_pylist()
    return _part(read, is_current, [not each for each in is_current], EVERYTHING)


def _part(
    read: _ReadTable, readable: Sequence[bool], remembered: Sequence[bool], policy: Policy
) -> _Part:
    chunks = _chunks(read, readable, remembered)
    read_keys = {(each.version_id, each.chunk_id) for each in chunks if each.is_readable}
    every_key = read_keys | {(each.version_id, each.chunk_id) for each in chunks}
    said = _Part(
        chunks,
        list(_mentions(read, read_keys)),
        list(_links(read, read_keys)),
        list(_claims(read, every_key)),
    )
    has_rules = bool(policy.excluded_links or policy.excluded_properties)
    return _without(policy, said) if has_rules else said


def _chunks(
    read: _ReadTable, readable: Sequence[bool], remembered: Sequence[bool]
) -> list[ChunkRow]:
    versions = read("notes", _VERSION)
    times = versions["observed_at"].cast(pa.int64()).to_pylist()
    columns = [versions[name].to_pylist() for name in _VERSION[:2]]
    found = {each: (number, at) for each, number, at in zip(*columns, times, strict=True)}
    is_in = [one or other for one, other in zip(readable, remembered, strict=True)]
    table = read("chunks", [*_CHUNK, "written_basis"]).filter(booleans(is_in))
    is_dated = [each == "heading" for each in table["written_basis"].to_pylist()]
    values = {name: table[name].to_pylist() for name in _CHUNK}
    values["aliases"] = [tuple(each) for each in values["aliases"]]
    numbered = [found[version] for version in values["version_id"]]
    said = [values[name] for name in _CHUNK]
    said[-2:-2] = [[number for number, _ in numbered], [at for _, at in numbered]]
    return list(map(ChunkRow, *said, compress(readable, is_in), is_dated))


def _mentions(read: _ReadTable, keys: set[_Key]) -> Iterator[Mention]:
    for version, chunk, kind, subject, *rest in _said(read, "mentions", _MENTION, keys):
        yield Mention(version, chunk, Reference(kind, subject), *rest)


def _links(read: _ReadTable, keys: set[_Key]) -> Iterator[LinkSaid]:
    better = {tuple(place): kind for *place, kind in _rows(read(RETYPED, _RETYPED), _RETYPED)}
    rows = _said(read, "link_observations", [*_LINK, "ordinal"], keys)
    for version, chunk, *ends, kind, label, phrase, modality, since, extractor, ordinal in rows:
        source, target = Reference(*ends[:2]), Reference(*ends[2:])
        kind = better.get((version, chunk, ordinal), kind)
        yield LinkSaid(
            version, chunk, source, target, kind, label, phrase, modality, since, extractor
        )


def _claims(read: _ReadTable, keys: set[_Key]) -> Iterator[ClaimSaid]:
    for version, chunk, kind, subject, *rest in _said(read, "claim_observations", _CLAIM, keys):
        yield ClaimSaid(version, chunk, Reference(kind, subject), *rest)


def _said(read: _ReadTable, name: str, columns: list[str], keys: set[_Key]) -> Iterator[Any]:
    table = read(name, columns)
    said = zip(*(table[each].to_pylist() for each in _KEY), strict=True)
    return _rows(table.filter(booleans([key in keys for key in said])), columns)


def _rows(table: pa.Table, columns: Sequence[str]) -> Iterator[Any]:
    return zip(*(table[name].to_pylist() for name in columns), strict=True)


def _without(policy: Policy, said: _Part) -> _Part:
    """Leave out what comes from links and properties that are as good as not there."""
    is_link = lru_cache(None)(policy.excludes_link)
    is_property = lru_cache(None)(policy.excludes_property)
    links = [each for each in said.links if not is_link(each.type, each.label)]
    gone = {end for each in said.links for end in _ends(each)}
    gone -= {end for each in links for end in _ends(each)}
    return _Part(
        [each._replace(aliases=()) for each in said.chunks]
        if is_property("aliases") or is_property("alias")
        else said.chunks,
        [
            each
            for each in said.mentions
            if (each.version_id, each.chunk_id, each.subject) not in gone
            and not any(map(is_property, _properties_of_mention(each)))
        ],
        links,
        [each for each in said.claims if not any(map(is_property, _properties_of_claim(each)))],
    )


def _ends(link: LinkSaid) -> list[tuple[str, str, Reference]]:
    """Return what a link names, in its chunk: whoever leaves out the link leaves out the name."""
    ends = (link.source, link.target)
    return [(link.version_id, link.chunk_id, end) for end in ends if end.kind != SELF]


def _properties_of_mention(said: Mention) -> tuple[str, ...]:
    names = {"identifier": (said.name.rpartition(" ")[0],), "type": ("type", "kind")}
    return names.get(said.basis, ())


def _properties_of_claim(said: ClaimSaid) -> tuple[str, ...]:
    """Return what the attribute is called, and the property as its quote begins with it."""
    return said.attribute, said.quote.partition(":")[0]


def _joined(parts: Iterable[_Part]) -> Evidence:
    chunks: list[ChunkRow] = []
    mentions: list[Mention] = []
    links: list[LinkSaid] = []
    claims: list[ClaimSaid] = []
    for part in parts:
        chunks += part.chunks
        mentions += part.mentions
        links += part.links
        claims += part.claims
    return Evidence(chunks, mentions, links, claims)
