"""How a question names a note, so that it can mean no other. Pure.

A title that only one note carries names it; else the note's date or its folder is added. A note
that cannot be told from others by any of these is not named, and nothing is asked of it by name.
"""

import re
from collections import Counter

from eval_assets.suggestions.source import SourceNote, SourceVault
from eval_assets.suggestions.templates import Templates, templates
from eval_assets.suggestions.wording import plain
from kb_core.dates import find_date, parse_date
from kb_core.text import fold

_LONGEST = 80
_LETTERS = re.compile(r"[^\W\d_]")
_VAGUE = frozenset(
    [
        "index",
        "readme",
        "home",
        "notes",
        "note",
        "untitled",
        "new",
        "draft",
        "todo",
        "inbox",
        "misc",
        "overview",
    ]
)
_CODE_NAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)+|\d{8,}")  # a file's name, no title
_QUOTES = re.compile(r"[“”\"„«»「」《》]")
_DIGITS = re.compile(r"\d+")


class Names:
    """The names of a vault's notes in questions."""

    def __init__(self, vault: SourceVault) -> None:
        """Count what titles, dates and folders tell notes apart."""
        self._titles = Counter(_folded(note) for note in vault.notes)
        self._dated = Counter((_folded(note), note.date) for note in vault.notes)
        self._placed = Counter((_folded(note), _folder_name(note)) for note in vault.notes)
        self._days = Counter(_day(note) for note in vault.notes if _is_day_note(note))

    def of(self, note: SourceNote, language: str | None = None) -> str | None:
        """Return the note's name in its own or the named language, None if it has none."""
        wording = templates(language or note.language)
        day = _day(note)
        if _is_day_note(note) and day:
            return (
                wording.word("day_note", date=wording.date(day)) if self._days[day] == 1 else None
            )
        title = plain(note.title)
        if not _is_a_title(title):
            return None
        if self._titles[_folded(note)] == 1:
            return wording.word("titled", title=_quoted(title))
        return self._told_apart(note, _quoted(title), wording)

    def _told_apart(self, note: SourceNote, title: str, wording: Templates) -> str | None:
        date, folder = note.date, _folder_name(note)
        if date and len(date) > 4 and self._dated[(_folded(note), date)] == 1:
            return wording.word("dated", title=title, date=wording.date(date))
        if folder and self._placed[(_folded(note), folder)] == 1:
            return wording.word("placed", title=title, folder=folder)
        return None


def series_of(note: SourceNote) -> str:
    """Return the title with its date taken out, "" if too little is left to name a series.

    >>> from eval_assets.suggestions.source import SourceNote
    >>> series_of(SourceNote("a.md", "Board minutes June 2025", "note", "en", None, (), "", 0))
    'Board minutes'
    """
    words = plain(note.title).split()
    kept = [at for at, word in enumerate(words) if not _DIGITS.search(word) and not _is_month(word)]
    if not kept or len(kept) < kept[-1] - kept[0] + 1:  # a number inside belongs to the name
        return ""
    title = " ".join(words[kept[0] : kept[-1] + 1]).strip(" -–—:,()[]")
    return title if len(_LETTERS.findall(title)) >= 4 and not _VAGUE & {fold(title)} else ""


def _folded(note: SourceNote) -> str:
    return fold(plain(note.title))


def _folder_name(note: SourceNote) -> str:
    return note.folder.rpartition("/")[2]


def _day(note: SourceNote) -> str | None:
    return parse_date(note.title) or note.date


def _is_day_note(note: SourceNote) -> bool:
    """A title without any letter is a day if the note's date is known."""
    title = plain(note.title)
    return bool(parse_date(title)) or bool(
        note.date and len(note.date) > 7 and not _LETTERS.search(title) and find_date(title)
    )


def _is_a_title(title: str) -> bool:
    return (
        3 <= len(title) <= _LONGEST
        and len(_LETTERS.findall(title)) >= min(4, len(title))
        and fold(title) not in _VAGUE
        and not _CODE_NAME.fullmatch(title)
    ) or (1 < len(title) <= _LONGEST and not title.isascii())


def _quoted(title: str) -> str:
    return _QUOTES.sub("", title)


def _is_month(word: str) -> bool:
    return find_date(f"{word.strip(',.()')} 2000") is not None
