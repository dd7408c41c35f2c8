"""The one way text becomes keywords, for notes and for questions. Pure, linear in the text.

A keyword is found whatever its case, accents or width. Words are runs of letters and digits.
Names made of several words (`parse_config`, `parseConfig`, `src/kb/main.py`, `v2.3.1`, `D-12`)
give their parts and the whole, so that either finds them. Scripts written without spaces give
every pair of neighbouring characters, and where one character can be a word, that too: without
it a question of one character finds nothing. Nothing is stemmed and no word is left out.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, filterfalse

VERSION = "1"

# A run longer than this is data, not a name; it is cut, in notes and questions alike.
LONGEST_WORD = 64
_MOST_PARTS = 16

# Marks that only decorate a letter. Left alone because they change the letter: kana voicing,
# Hangul, Thai and Indic vowel signs, and the breve that makes Cyrillic й another letter than и.
_DECORATION = re.compile(
    "[\u00ad\u0300-\u0305\u0307-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5"
    "\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8"
    "\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u2060\u20d0-\u20ff\ufe00-\ufe0f"
    "\ufe20-\ufe2f\ufeff]|(?<![иИ])\u0306"
)
# Letters that Unicode does not take apart, and the typographic twins of joining signs.
_TWINS = str.maketrans(
    {
        "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ł": "l", "Ł": "L", "ħ": "h", "Ħ": "H",
        "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe",
        "ı": "i", "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "−": "-",
    }
)  # fmt: skip
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")

# Scripts without spaces between words. Han and kana mix inside one word, the others do not.
_HAN_KANA = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u3096\u3099\u309a\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff"
_SOUTHEAST = (  # Thai, Lao, Myanmar, Khmer, with their vowel signs
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
)
_UNSPACED = _HAN_KANA + _HANGUL + _SOUTHEAST
# Vowel signs and joiners of Indic scripts, which `\w` leaves out of the middle of words.
_VOWEL_SIGNS = (
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u09d7"
    "\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57"
    "\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03"
    "\u0d3b-\u0d4d\u0d57\u0d81-\u0d83\u0dca-\u0ddf\u0df2\u0df3\u0f71-\u0f84\u0f90-\u0fbc"
)

_JOIN = r"[-_./\\:@&'][:/_]?"
# C++ and C# end in signs; a sign with a word behind it is arithmetic or an anchor.
_SIGNS = r"(?:[+#](?:(?<=\+)\+|(?![+#\w])))?+"


def _run_pattern(word: str) -> str:
    return rf"{word}(?:{_JOIN}{word}){{0,{_MOST_PARTS - 1}}}+{_SIGNS}"


# Possessive repeats: nothing is tried twice, which also makes plain text a third faster.
_ASCII_RUN = re.compile(_run_pattern(f"[A-Za-z0-9]{{1,{LONGEST_WORD}}}+"))
_ANY_RUN = re.compile(
    _run_pattern(f"(?:[^\\W_{_UNSPACED}]|[{_VOWEL_SIGNS}]){{1,{LONGEST_WORD}}}+")
    + f"|[{_HAN_KANA}]+|[{_HANGUL}]+|[{_SOUTHEAST}]+"
)
_FIRST_UNSPACED = re.compile(f"[{_UNSPACED}]")
_FIRST_VOWELLED = re.compile(f"[{_SOUTHEAST}]")
# 1,234,567 is one number. A year before the comma is not a group of thousands.
_THOUSANDS = re.compile(r",(?<=\d,)(?<!\d{4},)(?=\d{3}(?!\d))")
# Most runs are their own keyword.
_is_plain = re.compile("[a-z0-9]+").fullmatch
_JOINS = re.compile(_JOIN)
_DROPPED_JOIN = re.compile(rf"(?<!\d){_JOIN}|{_JOIN}(?!\d)")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLURAL = re.compile(r"([A-Z]{2,})s")
_POSSESSIVE = re.compile(r"'[sS]$")


def keyword_tokens(text: str) -> list[str]:
    """Cut a text into keywords, in order; a name's parts come before the whole.

    >>> keyword_tokens("Café parseConfig, PEP-0590")
    ['cafe', 'parse', 'config', 'parseconfig', 'pep', '0590', 'pep0590']
    >>> keyword_tokens("合約 ไทย")
    ['合', '合約', '約', 'ไท', 'ทย']
    """
    return list(chain.from_iterable(map(_run_tokens, _runs(text))))


def keyword_counts(text: str) -> Counter[str]:
    """Count a text's keywords: those of `keyword_tokens`, twice as fast for long texts."""
    counts = Counter(_runs(text))
    names = [(run, counts.pop(run)) for run in list(filterfalse(_is_plain, counts))]
    for run, number in names:
        if number == 1:
            counts.update(_run_tokens(run))
            continue
        for token in _run_tokens(run):
            counts[token] += number
    return counts


def fold(text: str) -> str:
    """Return the spelling under which a name is compared: no case, accents or width.

    >>> fold("Ｃａｆé ŁÓDŹ")
    'cafe lodz'
    """
    return text.lower() if text.isascii() else _without_accents(text).casefold()


def _runs(text: str) -> list[str]:
    plain = _THOUSANDS.sub("", text) if "," in text else text
    if plain.isascii():
        return _ASCII_RUN.findall(plain)
    return _ANY_RUN.findall(_without_accents(plain))


def _without_accents(text: str) -> str:
    """Fold width and accents, keep case. ASCII is left as it is, so only the rest is looked at."""
    return _NON_ASCII.sub(_plain_letters, text)


def _plain_letters(run: re.Match[str]) -> str:
    letters = run.group()
    return _cached_plain(letters) if len(letters) <= 2 else _plain(letters)


def _plain(letters: str) -> str:
    bare = _DECORATION.sub("", unicodedata.normalize("NFKD", letters))
    # Composed again, so that kana, Hangul and й are one character each.
    return unicodedata.normalize("NFC", bare.translate(_TWINS))


# Accented letters, dashes and quotes come alone and often.
_cached_plain = lru_cache(maxsize=4096)(_plain)


def _run_tokens(run: str) -> list[str] | tuple[str, ...]:
    if run.isascii() or not _FIRST_UNSPACED.match(run):
        return _name_tokens(run)
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    if _FIRST_VOWELLED.match(run):
        return pairs or [run]
    return [token for pair in pairs for token in (pair[0], pair)] + [run[-1]]


@lru_cache(maxsize=1 << 16)
def _name_tokens(run: str) -> tuple[str, ...]:
    """Give the keywords of one run. Cached: a text repeats most of its words."""
    if _is_plain(run):
        return (run,)
    return tuple(_distinct_tokens(run))


def _distinct_tokens(run: str) -> Iterator[str]:
    bare = _POSSESSIVE.sub("", run.rstrip("+#"))
    signs = run[len(run.rstrip("+#")) :]
    words = _JOINS.split(bare)
    for word in words:
        parts = _humps(word)
        yield from (part.casefold() for part in parts)
        if parts != [word]:
            yield word.casefold()
    if signs:
        yield words[-1].casefold() + signs
    # Joins are dropped, so that parse_config, parse-config and parseConfig are one name; but
    # 12.3 is not 123, so a join between digits stays.
    whole = _DROPPED_JOIN.sub("", bare).casefold() + signs
    if len(words) > 1 and len(whole) <= LONGEST_WORD:
        yield whole


def _humps(word: str) -> list[str]:
    """Split parseConfig and HTTPServer into words; PEPs is the plural of PEP."""
    if word.islower() or word.isupper() or word.istitle() or len(word) == LONGEST_WORD:
        return [word]
    plural = _PLURAL.fullmatch(word)
    return [plural[1]] if plural else _HUMPS.split(word)
