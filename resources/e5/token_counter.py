"""Token counts by the vocabulary of the embedding models (XLM-R), fast enough to size chunks.

A text has as many tokens as its words together, and each word is cut only once. Same text, same
count, in any order and any process. Needs the weight file and no engine.
"""

import re

from resources.e5.tokenizer import SPACE, Tokenizer

# About 30 MB of memory when full. A vault of 14 million characters has 150,000 words.
_MEMO_WORDS = 200_000
_LONGEST_REMEMBERED = 256  # characters; longer runs are rarely met twice
# The model drops these, Python splits words at them.
_NO_SPACES = re.compile("[\x0b\x1c-\x1f]")


class XlmrTokenCounter:
    """Count XLM-R tokens, without the marks a model adds and without outer spaces."""

    name = "xlm-r"

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Count with a tokenizer."""
        self._tokenizer = tokenizer
        self._memo: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Return the number of tokens in the text."""
        memo = self._memo
        total = 0
        for word in _NO_SPACES.sub("", text).split():
            known = memo.get(word)
            total += self._count_word(word) if known is None else known
        return total

    def _count_word(self, word: str) -> int:
        """Count what Python takes for one word and the model may read as several, or as none."""
        words = [part for part in self._tokenizer.words(word) if part != SPACE]
        tokens = sum(len(self._tokenizer.ids_of_word(part)) for part in words)
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self._memo) >= _MEMO_WORDS:
                self._memo.clear()
            self._memo[word] = tokens
        return tokens
