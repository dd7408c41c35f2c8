"""Is there anything to do? Asked before a run is started, because a run costs half a second."""

import datetime as dt

from kb_assets.build import run as build
from kb_assets.build.manifest import VERSION as MANIFEST_VERSION
from kb_assets.chunks import run as chunks
from kb_assets.entities import run as entities
from kb_assets.extractions import run as extractions
from kb_assets.keyword_index import run as keyword_index
from kb_assets.knowledge import run as knowledge
from kb_assets.lines import run as lines
from kb_assets.note_links import run as note_links
from kb_assets.notes import run as notes
from kb_assets.placeholders import run as placeholders
from kb_assets.retyping import run as retyping
from kb_assets.spending import run as spending
from kb_assets.triage import run as triage
from resources.home import Home

_READING = (triage, extractions, retyping, spending)


def words_are_fresh(home: Home, partition: str, now: dt.datetime) -> bool:
    """Look at a folder and tell whether its words are up to date. Raises VaultError."""
    return placeholders.is_fresh(home, partition, now) and words_follow(home, partition)


def words_follow(home: Home, partition: str) -> bool:
    """Tell from the home alone whether a folder's tables are those of its last look.

    Opens no note: asked at every tick. Rules, code and tables that were lost count too.
    """
    return placeholders.is_listed(home, partition) and all(
        room.is_fresh(home, partition) for room in (notes, chunks, keyword_index, *_READING)
    )


def code_version() -> str:
    """Name the versions of everything that is run over a folder or the vault."""
    folder = (placeholders, notes, chunks, keyword_index, *_READING)
    rooms = (*folder, note_links, entities, knowledge, lines)
    return " ".join([*(room.VERSION for room in rooms), MANIFEST_VERSION])


def vault_is_fresh(home: Home) -> bool:
    """Tell whether links, knowledge, build and publishing are up to date with the folders."""
    rooms = (note_links, entities, knowledge, build)
    return all(room.is_fresh(home) for room in rooms)
