"""When does a text name a note? The rules for titles, aliases and file names. Pure.

A name is compared folded: composed, lower case, blanks as one space. A name of one word also has
to be written with its own capitals, because `His` may be a title and `his` is not. Pronouns and
other words that stand everywhere are never names, nor are numbers and dates.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

Carrier = TypeVar("Carrier", tuple[bool, int, str], int, str)

VERSION = "1"  # raise it when equal text would name something else

TITLE, ALIAS, SHORT = 0, 1, 2  # a name of an earlier kind keeps a later one away
KINDS = ("title", "alias", "short")
_MOST_CARRIERS = (3, 1, 3)  # what names more notes (`Meeting`) names none

LONGEST_NAME = 120  # characters; a longer title is a sentence, and nobody repeats it
_SHORTEST = 3
_SHORTEST_UNSPACED = 2

# Scripts written without blanks: a name ends where it ends, not at the edge of a word.
_UNSPACED = re.compile(
    "[\u0e01-\u0ede\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u1100-\u11ff\u3131-\u318e\uac00-\ud7ff]"
)
_SLUG = re.compile(r"[a-z]+(?:-[a-z]+)+")
_ARTICLE = re.compile(r"^(?:the|an?|der|die|das|el|la|los|las|le|les|il|o|os)\s+", re.I)
_BLANKS = re.compile(r"\s+")
_BRACKETED_END = re.compile(r"(?<=\S)\s*[(（][^()（）]*[)）]$")
# "PEP 8 – Style Guide": either side of a spaced dash or a colon is often said alone.
_BREAK = re.compile(r"\s+[–—-]\s+|[:：]\s+")

# Words that stand everywhere, capitals or not: at the start of a sentence all have one.
_COMMON = """
    i me my mine we us our ours you your yours he him his she her hers it its they them their
    theirs this that these those who whom whose which what when where why how all any both each
    every few more most other others some such one two the and but for not with from into about
    after before over under again here there then than too very can will just should now also
    yes no note notes index readme home todo new old untitled main introduction overview summary
    example examples description features changelog related internal faq get find delete build event
    ich mich mir wir uns unser ihr euch euer sie ihn ihm ihnen sein seine dieser diese dieses
    jener wer wen wem was wann warum wie alle andere einige ein eine der die das und oder aber
    nicht mit von nach vor über unter hier dort dann auch ja nein notiz notizen
    yo nos nosotros usted ustedes ellos ellas ella este esta esto estos estas quien cual cuando
    donde como todo todos otro otra algunos uno una los las del para por con sin sobre aquí allí
    sí nota notas je moi nous vous ils elles elle lui leur ce cette ces qui que quoi quand où
    comment tout tous autre quelques un une les des pour par avec sans sur ici là oui non
    我 我们 你 你们 他 她 它 他们 她们 自己 这 那 这个 那个 什么 哪里 私 僕 彼 彼女 これ それ あれ
"""


def folded(text: str) -> str:
    """Lower a composed text, every character for one, so that places in it stay where they are."""
    return text.replace("\u0130", "I").lower()  # the one capital that two characters stand for


@lru_cache(maxsize=65536)
def name_key(text: str) -> str:
    """Fold a name into what is compared."""
    return folded(_BLANKS.sub(" ", unicodedata.normalize("NFC", text)).strip())


def is_unspaced(character: str) -> bool:
    """Tell whether a character belongs to a script without blanks between words."""
    return bool(_UNSPACED.match(character))


def is_one_word(key: str) -> bool:
    """Tell whether a folded name is a single word of a script that has blanks.

    An article does not count: `the board` is as plain a word as `board`.
    """
    return " " not in _ARTICLE.sub("", key) and not _UNSPACED.search(key)


def is_nameable(text: str) -> bool:
    """Tell whether a title or an alias can be told from the words around it."""
    key = name_key(text)
    shortest = _SHORTEST_UNSPACED if _UNSPACED.search(key) else _SHORTEST
    if not shortest <= len(key) <= LONGEST_NAME or key in _common_words():
        return False
    if not any(character.isalpha() for character in key):
        return False
    return not is_one_word(key) or _is_marked(_ARTICLE.sub("", text.strip()))


@lru_cache(maxsize=1)
def _common_words() -> frozenset[str]:
    return frozenset(_COMMON.split())


def _is_marked(word: str) -> bool:
    """Tell whether a word stands out: by a capital, a digit, or signs inside, as in `git-log`.

    Scripts without capitals have none to tell by.
    """
    if word.upper() == word.lower():
        return True
    return word != word.lower() or not word.isalpha()


def short_forms(title: str) -> Iterator[str]:
    """Yield what a title is called for short: without its closing bracket, or a half of it.

    The second half has to be of several words: `Notes: Monday` is not called Monday.

    >>> list(short_forms("Ada (ship)")), list(short_forms("PEP 8 – Style Guide"))
    (['Ada'], ['PEP 8', 'Style Guide'])
    """
    bare = _BRACKETED_END.sub("", title)
    if bare and bare != title:
        yield bare
    head, *rest = _BREAK.split(title, maxsplit=1)
    if head and rest:
        yield head
        if not is_one_word(name_key(rest[0])):
            yield rest[0]


def forms_of(title: str, stem: str, aliases: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield what a note is called, with the kind of name; its file's stem counts as a title.

    A stem of plain words (`on-call`) under another title was made for an address, not for a text.
    """
    is_slug = bool(_SLUG.fullmatch(stem)) and name_key(stem) != name_key(title)
    titles = distinct_forms([title] if is_slug else [title, stem])
    yield from ((TITLE, form) for form in titles)
    yield from ((ALIAS, form) for form in distinct_forms(aliases))
    shorts = [short for form in titles for short in short_forms(form)]
    yield from ((SHORT, form) for form in distinct_forms(shorts))


def meant(carriers: Iterable[tuple[int, Carrier]]) -> tuple[int, tuple[Carrier, ...]]:
    """Return whom a name means, sorted, and by which kind of name; nobody if it means too many.

    `carriers` are the kinds and the notes of everything that is called so. A title is a name; an
    alias is one if it means one note alone and nobody is called so; so is a short form of a title.
    """
    rows = set(carriers)
    kind = min(kind for kind, _ in rows)
    found = sorted(carrier for each, carrier in rows if each == kind)
    return kind, tuple(found) if len(found) <= _MOST_CARRIERS[kind] else ()


def distinct_forms(forms: Iterable[str]) -> tuple[str, ...]:
    """Return the forms that can name something, each folded name once, in order."""
    found: dict[str, str] = {}
    for form in forms:
        if is_nameable(form):
            found.setdefault(name_key(form), form.strip())
    return tuple(found.values())
