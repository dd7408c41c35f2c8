"""Say how many tokens a text is, without a tokenizer or a download. Pure.

Chunk sizes are in tokens of one counter, chosen once per home; its name is part of every
chunk's version, because another counter would cut notes elsewhere.
"""

import re
from typing import Protocol

# One token each: a character of Chinese, Japanese or Korean, a digit, a sign, and every seven
# letters (or what is left of them) of a word in any other script.
_CJK = "\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[^\W\d_{_CJK}]{{1,7}}|\S")
_ASCII_TOKEN = re.compile(r"[A-Za-z]{1,7}|\S")  # the same, half as slow again


class TokenCounter(Protocol):
    """Counts the tokens of a text's content, without the marks a model puts around it.

    `count` of nothing is 0, and cutting a text at white space hardly changes the sum of its
    parts (one token for each cut at most): a note is counted once, part by part.
    """

    @property
    def name(self) -> str:
        """Return the name that stands in versions; it changes when counts would."""

    def count(self, text: str) -> int:
        """Return the number of tokens."""


class RegexTokenCounter:
    """The counter that needs nothing: within a fifth of a real tokenizer on English.

    Sums over parts cut at white space are exact. About 20 million characters per second.
    """

    name = "regex-1"

    def count(self, text: str) -> int:
        """Return the number of tokens.

        >>> RegexTokenCounter().count("Introduced 3 firms, 合同"), RegexTokenCounter().count("")
        (7, 0)
        """
        # `subn` counts matches without keeping them: a note of 50 MB holds 15 million.
        pattern = _ASCII_TOKEN if text.isascii() else _TOKEN
        return pattern.subn("", text)[1]
