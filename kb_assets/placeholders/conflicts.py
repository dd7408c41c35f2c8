"""Know the copies that sync programs leave when two devices changed one file. Pure.

They are flagged, never dropped: nobody but the user knows which of the two is right. Most
programs say in the name what they did. Some only add a number or the computer's name, as a
person might; such a file counts where its original lies beside it and most of the shorter text
stands in the other.
"""

import re
from collections.abc import Mapping

_STATED = re.compile(
    # Obsidian Sync, Dropbox, Nextcloud, ownCloud: (Ann's conflicted copy 2024-…)
    r"\([^()]*\bconflicted copy\b"
    # Dropbox on names that clash elsewhere
    r"|\((?:case|selective sync|unicode encoding|white ?space) conflict(?: \d+)?\)"
    # Seafile: (SFConflict ann@x.y 2015-03-07-11-30-28); FileCloud: (Conflict_ann_2020-03-25-…)
    r"|\((?:sf)?conflict[ _-][^()]*(?:\([^()]*\))?[^()]*\d{4}-\d\d-\d\d"
    # pCloud, Google Drive's older client, and one with the computer: (PC conflict 2023-04-02)
    r"|[\[(](?:conflict|conflicted)[\])](?=[^/]*$)"
    r"|\((?:[^()/]{1,60} )?conflict(?:ed)? \d{4}-"
    # Syncthing, ownCloud before 2.5, Resilio, OneDrive on Linux
    r"|\.sync-conflict-\d|_conflict-\d{8}|\.conflict\d*(?=\.[^./]+$)|-safebackup-\d{4}"
    # Synology Drive: a_Andy-PC_Jan-03-0901-2013_CaseConflict_1
    r"|_[a-z]{3}-\d\d-\d{4}-\d{4}_[a-z]*conflict(?=[_.])",
    re.IGNORECASE,
)
# iCloud `a 2.md`, Google Drive `a (1).md`, OneDrive `a-DESKTOP-4F7Q2KD.md`.
_NUMBERED = re.compile(
    r"(?P<stem>.*[^/ ])(?: [2-9]| ?\([1-9]\)|-(?:DESKTOP|LAPTOP)-[A-Z0-9]{7}(?:-[0-9]+)?)"
    r"(?P<ending>\.[^./]+)"
)
_ALIKE = 0.5  # of the lines of the shorter text


def conflict_copies(contents: Mapping[str, bytes | None]) -> frozenset[str]:
    """Return the paths of conflict copies; `contents` is path -> bytes, None if not read."""
    return frozenset(
        path for path in contents if _STATED.search(path) or _is_numbered_copy(path, contents)
    )


def _is_numbered_copy(path: str, contents: Mapping[str, bytes | None]) -> bool:
    found = _NUMBERED.fullmatch(path)
    original = contents.get(found["stem"] + found["ending"]) if found else None
    copy = contents[path]
    return original is not None and copy is not None and _are_alike(original, copy)


def _are_alike(one: bytes, other: bytes) -> bool:
    if one == other:
        return True
    first, second = (
        {line.strip() for line in text.splitlines()} - {b"", b"---"} for text in (one, other)
    )
    shorter = min(len(first), len(second))
    return shorter > 0 and len(first & second) > _ALIKE * shorter
