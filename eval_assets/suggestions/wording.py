"""Take markup off a text, and cut it into sentences. Pure, linear.

A sentence keeps its markup, because it is quoted from the note; what is asked is plain.
"""

import re
from collections.abc import Iterator

_MARKUP = (
    # Every repetition is bounded: a line of brackets must not be slow.
    (
        re.compile(
            r"<!--[^>]{0,400}-->|(?<!`)</?(?:a|b|i|em|br|p|div|span|sub|sup|code|img|kbd|details"
            r"|summary|strong|u|small|font|center|h\d|li|ul|ol|td|tr|th)\b[^<>\n]{0,200}>"
        ),
        "",
    ),
    (re.compile(r"!\[\[[^\[\]\n]{0,400}\]\]|!\[[^\[\]\n]{0,400}\]\([^()\n]{0,1000}\)"), ""),
    (re.compile(r"\[\[[^\[\]|\n]{0,400}\|([^\[\]\n]{1,400})\]\]"), r"\1"),
    (
        re.compile(r"\[\[(?:[^\[\]|\n#]{0,300}/)?([^\[\]|\n#/]{1,300})(?:#[^\[\]\n]{0,300})?\]\]"),
        r"\1",
    ),
    (re.compile(r"\[([^\[\]\n]{1,400})\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,1000}\)"), r"\1"),
    (re.compile(r"\[\^?[\w.#-]{1,30}\]_?(?=[\s.,;:)]|$)"), ""),  # footnotes
    (re.compile(r"(?<!\w):[a-z][a-z:+-]{1,30}:`([^`<]{1,200})(?:<[^`]{0,400})?`"), r"\1"),
    (re.compile(r"`([^`<\n]{1,200}?)\s*<[^`>\n]{1,400}>`__?"), r"\1"),
    (re.compile(r"``([^`\n]{1,200})``|`([^`\n]{1,200})`_?_?"), r"\1\2"),
    (re.compile(r"(\*\*\*|\*\*|__|~~|==)(?=\S)([^\n]{1,400}?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*\\])([*_])(?=[^\s*_])([^*_\n]{1,300}?)(?<=[^\s\\])\1(?![\w*])"), r"\2"),
    (re.compile(r"\s\^[\w-]{1,40}$|\s\{#[^}\n]{1,60}\}"), ""),
    (re.compile(r"\\([-\\`*_{}\[\]()#+.!|<>$&])"), r"\1"),
)
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_HAS_MARKUP = re.compile(r"[\[\]`*_<>~=^\\{]")
_ENTITIES = {"&amp;": "&", "&nbsp;": " ", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'"}
_SENTENCE_END = re.compile(
    r"[.!?…][\"'”’»)\]*_]{0,3}\s+(?=[\"'“‘«(\[*_`]{0,3}[A-ZÀ-ÞА-Я0-9¿¡])"
    r"|[。！？．][」』”）]{0,2}\s*"
)
_NO_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|Inc|Ltd|Co|Corp|cf|vs|Mr|Mrs|Ms|Dr|Prof|No|Nr|St|ca|bzw|approx|resp|Sr|Sra"
    r"|z\.B|d\.h|u\.a|p\.ej|Fig|[A-Z])|(?:^|\s)\d{1,3})$"
)


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that lists them."""
    return frozenset(words.split())


def plain(text: str) -> str:
    """Return a text as a reader sees it, on one line.

    >>> plain("**Ask** [[people/Ana|Ana]] for the ``-v`` [option](https://a.example)")
    'Ask Ana for the -v option'
    """
    if "&" in text:
        for entity, char in _ENTITIES.items():
            text = text.replace(entity, char)
    if _HAS_MARKUP.search(text):
        for pattern, shown in _MARKUP:
            text = pattern.sub(shown, text)
    return " ".join(text.split())


def is_unspaced(text: str) -> bool:
    """Say whether a text is written in a script without spaces between words.

    >>> is_unspaced("価格と納期"), is_unspaced("Prix et délais")
    (True, False)
    """
    return bool(_UNSPACED.search(text))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text whose blanks are folded, markup and full stop included.

    >>> list(sentences("We met Dr. Lind. She paid 4.50 for it!"))
    ['We met Dr. Lind.', 'She paid 4.50 for it!']
    """
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if text[end.start()] == "." and _NO_END.search(text, start, end.start()):
            continue
        yield text[start : end.end()].strip()
        start = end.end()
    if text[start:].strip():
        yield text[start:].strip()
