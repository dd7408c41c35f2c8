"""How a link to a note is written, and which note a wrong one may have meant. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from kb_core.link_targets import fold

_ENDING = ".md"


def bare(path: str) -> str:
    """Return a note's path or name without its ending."""
    return path[: -len(_ENDING)] if path.lower().endswith(_ENDING) else path


def stem(path: str) -> str:
    """Return a note's file name without its ending."""
    return bare(path.rpartition("/")[2])


class LinkNames:
    """The names that links can use in one vault."""

    def __init__(self, aliases: Mapping[str, Sequence[str]]) -> None:
        """Take every present note with its aliases."""
        self._stems = Counter(fold(stem(note)) for note in aliases)
        self._written = {*self._stems, *(fold(bare(note)) for note in aliases)}
        self._loose: dict[str, str] = {}  # "" for a name that several notes share
        for note in sorted(aliases):
            for key in sorted({_loose(form) for form in (stem(note), *aliases[note])}):
                self._loose[key] = "" if key in self._loose else note

    def link_to(self, note: str, shown: str = "") -> str:
        """Return the shortest link that can mean this note alone."""
        is_clear = self._stems[fold(stem(note))] < 2
        target = stem(note) if is_clear else bare(note)
        return f"[[{target}|{shown}]]" if shown and shown != target else f"[[{target}]]"

    def is_name(self, text: str) -> bool:
        """Tell whether a text is the name or the path of a note, with or without a heading."""
        return fold(bare(text.partition("#")[0].strip())) in self._written

    def like(self, target: str) -> str:
        """Return the one note whose name differs from a target in blanks and signs, or ""."""
        key = _loose(stem(target))
        return self._loose.get(key, "") if key else ""


def notes_with_aliases(note_ids: Iterable[str], aliases: Iterable[Sequence[str]]) -> LinkNames:
    """File the names of the present notes."""
    return LinkNames(dict(zip(note_ids, aliases, strict=True)))


def _loose(name: str) -> str:
    """Return what is left of a name without case, blanks and signs."""
    return "".join(character for character in fold(name) if character.isalnum())
