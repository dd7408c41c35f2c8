"""Find the note each link means, the way Obsidian does. Pure.

1. A target that is the exact path of a note from the vault's root wins.
2. Else the note at that path below the source note's own folder.
3. Else the shortest path, as a string, among the notes whose path ends with the target.

Case never counts, and the ending `.md` may be left out. `./`, `../` and a leading `/` are exact.
Markdown destinations are looked up like wikilinks. An alias never resolves: a link to one is
reported with the notes that carry it. Attachments need their ending. The targets are the present
notes, for links of every version. A note that is listed and could not be read (its text is only
online, it is too large) takes part by its path: a link to it leads somewhere.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kb_core.contracts import NOTE_LINKS
from kb_core.link_targets import Paths, fold, is_address, note_paths

VERSION = "3"  # raise it when equal links would resolve differently

RESOLVED = "resolved"
UNREAD = "unread"  # a note that is listed but was not read; it has no rows and so no note id
SELF = "self"  # a heading or block of the source note
ALIAS = "alias"  # no note of that name, but a note with that alias
ATTACHMENT = "attachment"  # a file that is no note; it has no note id
EXTERNAL = "external"  # an address with a scheme
DANGLING = "dangling"

_ORDER = ("note_id", "version_id", "ordinal")


class Resolution(NamedTuple):
    """What a link means: a status, and every note it could mean, best first."""

    status: str
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vault:
    """What links can point at: the present notes, their aliases, and the other files."""

    notes: Paths  # unread ones among them
    unread: frozenset[str]
    attachments: Paths
    aliases: Mapping[str, tuple[str, ...]]  # folded alias -> note ids


def resolve_links(notes: pa.Table, raw: pa.Table, vault: Vault) -> pa.Table:
    """Resolve the links of some notes (contract NOTE_LINKS), sorted by note and place.

    `notes` holds version_id and is_current of the links' notes, `raw` the links as written
    (contract NOTE_LINKS_RAW).
    """
    order = pc.sort_indices(raw.select(_ORDER), sort_keys=[(name, "ascending") for name in _ORDER])
    links = raw.take(order)
    columns = [links[name].to_pylist() for name in ("note_id", "target", "syntax")]
    meant = [
        resolve(source, target, syntax, vault)
        for source, target, syntax in zip(*columns, strict=True)
    ]
    present = notes.filter(notes["is_current"])["version_id"]
    made = {
        "source_version_id": links["version_id"],
        "source_note_id": links["note_id"],
        "is_current": pc.is_in(links["version_id"], value_set=present.combine_chunks()),
        "status": [each.status for each in meant],
        "is_ambiguous": [_is_ambiguous(each) for each in meant],
        "target_note_id": [_target(each) for each in meant],
        "candidates": [each.candidates for each in meant],
    }
    return NOTE_LINKS.check(_table(links, made))


def build_vault(notes: pa.Table, files: pa.Table) -> Vault:
    """File the present notes' paths and aliases, and the other files' paths.

    `notes` holds note_id, is_current and aliases of all folders, `files` path and is_note of
    everything listed.
    """
    present = notes.filter(notes["is_current"])
    note_ids = present["note_id"].to_pylist()
    carriers: dict[str, set[str]] = defaultdict(set)
    for note_id, aliases in zip(note_ids, present["aliases"].to_pylist(), strict=True):
        for alias in aliases:
            carriers[fold(alias)].add(note_id)
    aliases = {alias: tuple(sorted(ids)) for alias, ids in carriers.items()}
    listed = files.filter(files["is_note"])["path"].to_pylist()
    unread = frozenset(listed).difference(note_ids)
    attachments = files.filter(pc.invert(files["is_note"]))["path"].to_pylist()
    return Vault(note_paths([*note_ids, *unread]), unread, Paths(attachments), aliases)


def resolve(source: str, target: str, syntax: str, vault: Vault) -> Resolution:
    """Resolve one link of a source note; `target` is decoded and without its heading.

    An address in a wikilink is the name of a note that does not exist, as in Obsidian.
    """
    if not target:
        return Resolution(SELF, (source,))
    if is_address(target, syntax):
        return Resolution(EXTERNAL)
    notes = vault.notes.find(source, target)
    if notes:
        return Resolution(UNREAD if notes[0] in vault.unread else RESOLVED, notes)
    if vault.attachments.find(source, target):
        return Resolution(ATTACHMENT)
    carriers = vault.aliases.get(fold(target))
    return Resolution(ALIAS, carriers) if carriers else Resolution(DANGLING)


def _is_ambiguous(found: Resolution) -> bool:
    return found.status == RESOLVED and len(found.candidates) > 1


def _target(found: Resolution) -> str | None:
    return found.candidates[0] if found.status in (RESOLVED, SELF) else None


def _table(links: pa.Table, made: Mapping[str, Any]) -> pa.Table:
    """Put the columns of the contract together: those made here, the rest as they were."""
    columns = {field.name: made.get(field.name) for field in NOTE_LINKS.schema}
    arrays = [
        links[field.name] if columns[field.name] is None else _array(columns[field.name], field)
        for field in NOTE_LINKS.schema
    ]
    return pa.Table.from_arrays(arrays, schema=NOTE_LINKS.schema)


def _array(values: Any, field: pa.Field) -> pa.Array | pa.ChunkedArray:
    return pa.array(values, field.type) if isinstance(values, list) else values
