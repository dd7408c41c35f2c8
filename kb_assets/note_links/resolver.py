"""Find the note each link means, the way Obsidian does. Pure.

1. A target that is the exact path of a note from the vault's root wins.
2. Else the note at that path below the source note's own folder.
3. Else the shortest path, as a string, among the notes whose path ends with the target.

Case never counts, and the ending `.md` may be left out. `./`, `../` and a leading `/` are exact.
Markdown destinations are looked up like wikilinks. An alias never resolves: a link to one is
reported with the notes that carry it. Attachments need their ending. The targets are the present
notes, for links of every version.
"""

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kb_core.contracts import NOTE_LINKS

VERSION = "1"  # raise it when equal links would resolve differently

RESOLVED = "resolved"
SELF = "self"  # a heading or block of the source note
ALIAS = "alias"  # no note of that name, but a note with that alias
ATTACHMENT = "attachment"  # a file that is no note; it has no note id
EXTERNAL = "external"  # an address with a scheme
DANGLING = "dangling"

_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+:|//)")
_ENDING = ".md"


class Resolution(NamedTuple):
    """What a link means: a status, and every note it could mean, best first."""

    status: str
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vault:
    """The names links are looked up by, folded once for the whole vault."""

    notes: Mapping[str, tuple[str, ...]]  # folded last name -> note ids
    attachments: Mapping[str, tuple[str, ...]]
    aliases: Mapping[str, tuple[str, ...]]


def resolve_links(notes: pa.Table, raw: pa.Table, files: Sequence[str]) -> pa.Table:
    """Resolve every link of the vault (contract NOTE_LINKS).

    `notes` holds note_id, version_id, is_current and aliases of all folders, `raw` all links as
    written (contract NOTE_LINKS_RAW), `files` the paths of what is no note.
    """
    vault = build_vault(notes, files)
    current = notes.filter(notes["is_current"])
    is_current = pc.is_in(raw["version_id"], value_set=current["version_id"])
    order = pc.sort_indices(
        raw.select(["note_id", "version_id", "ordinal"]),
        sort_keys=[(name, "ascending") for name in ("note_id", "version_id", "ordinal")],
    )
    links = raw.append_column("is_current", is_current).take(order)
    sources, targets = links["note_id"].to_pylist(), links["target"].to_pylist()
    syntaxes = links["syntax"].to_pylist()
    meant = [resolve(*link, vault) for link in zip(sources, targets, syntaxes, strict=True)]
    return NOTE_LINKS.check(_table(links, meant))


def build_vault(notes: pa.Table, files: Iterable[str]) -> Vault:
    """Fold the present notes' paths and aliases, and the attachments' paths."""
    current = notes.filter(notes["is_current"])
    note_ids = current["note_id"].to_pylist()
    aliases: dict[str, list[str]] = defaultdict(list)
    for note_id, names in zip(note_ids, current["aliases"].to_pylist(), strict=True):
        for name in names:
            aliases[_folded(name)].append(note_id)
    return Vault(
        notes=_by_name((_without_ending(_folded(note_id)), note_id) for note_id in note_ids),
        attachments=_by_name((_folded(path), path) for path in files),
        aliases={name: tuple(sorted(set(ids))) for name, ids in aliases.items()},
    )


def resolve(source: str, target: str, syntax: str, vault: Vault) -> Resolution:
    """Resolve one link of a source note.

    >>> resolve("a.md", "", "wikilink", Vault({}, {}, {}))
    Resolution(status='self', candidates=('a.md',))
    """
    if not target:
        return Resolution(SELF, (source,))
    is_markdown = syntax in ("markdown", "image")
    if is_markdown and _SCHEME.match(target):
        return Resolution(EXTERNAL)
    wanted = _folded(target)
    found = _candidates(source, target, wanted, vault.notes, _without_ending)
    if found:
        return Resolution(RESOLVED, found)
    if _candidates(source, target, wanted, vault.attachments, str):
        return Resolution(ATTACHMENT)
    carriers = vault.aliases.get(wanted)
    return Resolution(ALIAS, carriers) if carriers else Resolution(DANGLING)
