"""What a short value is: a date, a figure, names, or nothing to ask for. Pure."""

import re

from eval_assets.suggestions.wording import word_set
from kb_core.dates import parse_date

_URL = re.compile(r"https?:|www\.|\w@\w|^[./~]|^#|\.(?:md|png|jpe?g|pdf|com|org|io)\b")
_HASH = re.compile(r"[0-9a-f]{16,}|[0-9A-Za-z_-]{20,}|\d{10,}")
_IDENTIFIER = re.compile(r"\w*[A-Za-z_]\.[A-Za-z_]\S*|(?=\S*\d)(?=\S*[a-z])[A-Za-z0-9]{8,}")
_EMPTY = frozenset(
    [
        "true",
        "false",
        "yes",
        "no",
        "none",
        "n/a",
        "na",
        "tbd",
        "tba",
        "todo",
        "null",
        "-",
        "–",
        "—",
        "x",
        "?",
        "unknown",
        "various",
        "ja",
        "nein",
        "sí",
        "si",
        "oui",
        "non",
        "是",
        "否",
        "无",
        "✅",
        "❌",
        "✓",
        "✔",
        "✗",
        "👍",
    ]
)
_LETTERS = re.compile(r"[^\W\d_]")
_FIGURE = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_][\w'’.-]+")
_MOST_WORDS = 14
_PARTICLES = word_set("van von de der den da di du la le bin al")
_CODE = re.compile(r"[{}<>\\`|\[\]]|\w\(|\$[^$\s]{1,40}\$|\s=\s")
_LONGEST = 100
_MOST_LISTED = 5


def is_askable(value: str) -> bool:
    """Say whether a plain value is an answer: short, not empty, no address and no hash."""
    bare = value.strip(" .*_")
    if not 1 <= len(bare) <= _LONGEST or bare.lower() in _EMPTY:
        return False
    if _IDENTIFIER.fullmatch(bare) or any(each.search(value) for each in (_URL, _HASH, _CODE)):
        return False
    if value.count('"') % 2 or value.count("“") != value.count("”"):  # cut out of a sentence
        return False
    return bool(_LETTERS.search(value) or _FIGURE.search(value)) and value.count(",") < _MOST_LISTED


def is_date(value: str) -> bool:
    """Say whether a value is a date and nothing else."""
    return bool(parse_date(value))


def has_figure(value: str) -> bool:
    """Say whether a value holds a number."""
    return bool(_FIGURE.search(value))


def is_name(value: str) -> bool:
    """Say whether every word of a value is written like a name's.

    >>> is_name("Guido van Rossum, Tim Peters"), is_name("Standards track")
    (True, False)
    """
    words = [word for word in re.split(r"[\s,;&]+|\band\b", value) if word]
    return 1 <= len(words) <= _MOST_WORDS and all(
        (word[0].isupper() and _WORD.fullmatch(word)) or word in _PARTICLES for word in words
    )


def is_clause(value: str) -> bool:
    """Say whether a value reads like a sentence or the start of one, not like a value."""
    words = value.split()
    return len(words) > 9 or value.endswith((":", ";", ",")) or bool(re.search(r"[.!?]\s", value))
