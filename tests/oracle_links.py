"""Find what a link means by looking at every path there is: an oracle for the resolver.

Written from what was observed on Obsidian 1.13.7: the exact path from the vault's root wins, then
the path below the source note's folder, then the shortest path that ends with the target. Case
and composition do not count, `.md` may be left out, `./`, `../` and `/` are exact, and a target
that ends with a slash names no note. Among paths that differ in case alone the one spelled as
the target wins.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence


def same(text: str) -> str:
    """Write a name as it is compared, letter by letter."""
    composed = unicodedata.normalize("NFC", text).replace("\xa0", " ").strip()
    return "".join(char.lower() for char in composed).replace("ς", "σ")


def meaning(
    source: str,
    target: str,
    syntax: str,
    notes: Sequence[str],
    unread: Sequence[str],
    files: Sequence[str],
    aliases: Mapping[str, Sequence[str]],
) -> tuple[str, str | None]:
    """Return a link's status and the first note it could mean."""
    if target == "":
        return "self", source
    if syntax in ("markdown", "image") and re.match(r"//|[A-Za-z][A-Za-z0-9+.-]+:", target):
        return "external", None
    found = _best(source, target, [*notes, *unread], ending=".md")
    if found is not None:
        return ("unread" if found in unread else "resolved"), found
    if _best(source, target, files, ending="") is not None:
        return "attachment", None
    carriers = sorted(note for note in aliases if same(target) in map(same, aliases[note]))
    return ("alias", carriers[0]) if carriers else ("dangling", None)


def _best(source: str, target: str, paths: Sequence[str], *, ending: str) -> str | None:
    wanted = _bare(same(target), ending)
    folder = same(source).rpartition("/")[0]
    ranked = []
    for path in paths:
        here = _bare(same(path), ending)
        rank = _rank(here, wanted, folder)
        if rank is not None:
            ranked.append((rank, len(path), path))
    if not ranked:
        return None
    best = min(ranked)[2]
    twins = sorted(path for _, _, path in ranked if same(path) == same(best))
    plain = unicodedata.normalize("NFC", target).strip()
    last = plain.split("/")[-1]
    spelled = [path for path in twins if _ends_as(path, plain if last != plain else last, ending)]
    return min(spelled or twins, key=lambda path: (len(path), path))


def _ends_as(path: str, spelled: str, ending: str) -> bool:
    while spelled.startswith((".", "/")):
        spelled = spelled[1:]
    return _bare(path, ending).endswith(_bare(spelled, ending))


def _rank(path: str, wanted: str, folder: str) -> int | None:
    if wanted.endswith("/"):
        return None
    if wanted.startswith("/"):
        return 0 if path == wanted.lstrip("/") else None
    if wanted.startswith(("./", "../")):
        return 0 if path == _walk(folder, wanted) else None
    if path == wanted:
        return 0
    if path == (f"{folder}/{wanted}" if folder else wanted):
        return 1
    return 2 if path.endswith(f"/{wanted}") else None


def _walk(folder: str, steps: str) -> str | None:
    at = folder.split("/") if folder else []
    for step in steps.split("/"):
        if step == "..":
            if not at:
                return None
            at = at[:-1]
        elif step not in (".", ""):
            at = [*at, step]
    return "/".join(at)


def _bare(path: str, ending: str) -> str:
    return path[: -len(ending)] if ending and path.lower().endswith(ending) else path
