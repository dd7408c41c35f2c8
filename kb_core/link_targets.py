"""Look a link's target up among the paths of a vault, in constant time. Pure.

Every path is filed under each of its endings (`a/b/Note`, `b/Note`, `Note`), so that a vault in
which ten thousand notes are called `index` costs no more than any other.
"""

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

_DEEPEST = 16  # folders of a shortened path; a whole path is found at any depth
_MOST_CANDIDATES = 100  # nobody reads more, and their number is what makes `index` slow
_NOTE_ENDING = ".md"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")


def fold(text: str) -> str:
    """Fold what does not count in a name: case, composition, and the kind of a space.

    A sigma at the end of a word is one in its middle: where a word ends depends on what follows,
    and a path goes on with `.md` where a target does not.
    """
    folded = unicodedata.normalize("NFC", text).replace("\xa0", " ").strip().lower()
    return folded.replace("\u03c2", "\u03c3")


def is_address(target: str, syntax: str) -> bool:
    """Tell whether a target is an address outside; in a wikilink it is a note's name."""
    return syntax in ("markdown", "image") and bool(_SCHEME.match(target))


class Paths:
    """Some paths of a vault. With `ending`, that ending may be left out of a target."""

    def __init__(self, paths: Iterable[str], ending: str = "") -> None:
        self._ending = ending
        self._exact: dict[str, list[str]] = defaultdict(list)
        self._endings: dict[str, list[str]] = defaultdict(list)
        # Shortest first, so that each list is in order of preference as it grows.
        for path in sorted(set(paths), key=lambda path: (len(path), path)):
            folded = self._bare(fold(path))
            parts = folded.split("/")
            self._exact[folded].append(path)
            for count in range(1, min(len(parts), _DEEPEST) + 1):
                self._endings["/".join(parts[-count:])].append(path)

    def find(self, source: str, target: str) -> tuple[str, ...]:
        """Return what a target in a source note could mean, best first; at most 100."""
        wanted = self._bare(fold(target))
        if wanted.endswith("/"):
            return ()  # a folder; a path that goes through `..` would lose the slash
        folder = fold(source).rpartition("/")[0]
        if wanted.startswith(("./", "../", "/")):
            found = self._exact.get(_from(folder, wanted), [])
        else:
            beside = f"{folder}/{wanted}" if folder else wanted
            found = [
                *self._exact.get(wanted, []),
                *self._exact.get(beside, []),
                *self._endings.get(wanted, [])[:_MOST_CANDIDATES],
            ]
        unique = list(dict.fromkeys(found))[:_MOST_CANDIDATES]
        return tuple(self._best_spelling_first(unique, target))

    def _best_spelling_first(self, paths: list[str], target: str) -> list[str]:
        """Let the exact spelling win among paths that differ in case alone."""
        if len(paths) < 2:
            return paths
        spelled = self._bare(unicodedata.normalize("NFC", target).strip()).lstrip("./")
        group: dict[str, int] = {}
        for at, path in enumerate(paths):
            group.setdefault(fold(path), at)
        return sorted(
            paths,
            key=lambda path: (group[fold(path)], not self._bare(path).endswith(spelled)),
        )

    def _bare(self, path: str) -> str:
        has_ending = bool(self._ending) and path.lower().endswith(self._ending)
        return path[: -len(self._ending)] if has_ending else path


def note_paths(paths: Iterable[str]) -> Paths:
    """File the paths of notes, whose ending `.md` may be left out."""
    return Paths(paths, _NOTE_ENDING)


def _from(folder: str, target: str) -> str:
    """Return the vault path of an exact target; one that leaves the vault names nothing."""
    if target.startswith("/"):
        return target.lstrip("/")
    return posixpath.normpath(posixpath.join(folder, target))
