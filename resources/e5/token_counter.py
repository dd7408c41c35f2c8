"""Token counts by the vocabulary of the embedding models (XLM-R), fast enough to size chunks.

A text has as many tokens as its words together, and each word is cut only once. Same text, same
count, in any order and any process. Needs the weight file and no engine.
"""

import re

from resources.e5.tokenizer import Tokenizer

# A full memory of words holds about 30 MB. A vault of 14 million characters has 150,000 words.
_MEMO_WORDS = 200_000
_LONGEST_REMEMBERED = 256  # characters; longer runs are rarely met twice

# The model's own normaliser drops the first kind and reads the second as a space.
_DROPPED = "".join(map(chr, (*range(1, 9), 11, *range(14, 32), 0x7F, 0x8F, 0x9F)))
_SPACES = "\x00\u200b\u200c\u200d\u200e\u200f\u2581\ufeff\ufffd"
_UNUSUAL = re.compile(f"[{re.escape(_DROPPED + _SPACES)}]")
_PLAIN = str.maketrans({**dict.fromkeys(_DROPPED), **dict.fromkeys(_SPACES, " ")})
_PREFIX = "query: "
_PREFIX_TOKENS = 2


class E5TokenCounter:
    """Count XLM-R tokens, without the marks a model adds and without outer spaces."""

    name = "xlm-r"

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Count with a tokenizer."""
        self._tokenizer = tokenizer
        self._memo: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Return the number of tokens in the text."""
        if _UNUSUAL.search(text):
            text = text.translate(_PLAIN)
        memo = self._memo
        total = 0
        for word in text.split():
            known = memo.get(word)
            total += self._count_word(word) if known is None else known
        return total

    def _count_word(self, word: str) -> int:
        # Behind a prefix, since a word may hold what is read as a space and stand first.
        tokens = len(self._tokenizer.ids(_PREFIX + word)) - _PREFIX_TOKENS
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self._memo) >= _MEMO_WORDS:
                self._memo.clear()
            self._memo[word] = tokens
        return tokens
