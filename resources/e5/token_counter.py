"""Token counts by the vocabulary of the embedding models (XLM-R), fast enough to size chunks.

Same text, same count, in any order and any process. Needs the weight file and no engine.
"""

from resources.e5.tokenizer import SPACE, Tokenizer

# The model reads this line end as a letter. Python splits lines at it, and so may a note.
_NEXT_LINE = "\x85"


class XlmrTokenCounter:
    """Count XLM-R tokens, without the marks a model adds and without outer spaces."""

    name = "xlm-r"

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Count with a tokenizer."""
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        """Return the number of tokens in the text: those of its words together."""
        ids_of_word = self._tokenizer.ids_of_word
        words = self._tokenizer.words(text.replace(_NEXT_LINE, " "))
        return sum(len(ids_of_word(word)) for word in words if word != SPACE)
