"""What a vector must pass before it is stored, and what is tried for a text that fails.

Servers have been seen to return NaN for some texts, to cut long ones without saying so, to mix
up a batch and to drop it. A batch that fails is halved until the bad texts stand alone; each
then gets its remedies, and is given up with a reason that holds no note text. The good texts of
the batch are never lost. Not pure: it calls the embedder.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kb_core.errors import EmbedderDownError
from kb_core.tokens import TokenCounter
from resources.embedder import BadBatchError, Embedder, SilentError, unit_vectors

Vectors = NDArray[np.float32]

# One text embedded alone and in a batch differs by rounding only; two texts differ by far more.
_SAME_COSINE = 0.999
_PROBE = "water"
# Below this no server cuts, and counts of short texts differ too much to compare.
_CUT_FROM_TOKENS = 256
# The share of the tokens counted here that the server must have read. Another vocabulary, or
# the counter without one, may see half as many tokens again.
_READ_SHARE_SAME_VOCABULARY = 0.9
_READ_SHARE = 0.5


class _MixedUpError(BadBatchError):
    """The vectors of a batch do not come in the order of its texts."""


@dataclass(frozen=True)
class Checked:
    """What became of each text of a batch, by its position."""

    vectors: dict[int, Vectors] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)


class Door:
    """Lets only sound vectors through. Remembers a server that mixes up its batches."""

    def __init__(self, embedder: Embedder, counter: TokenCounter) -> None:
        """Check the embedder's answers, counting tokens with the home's counter."""
        self._embedder = embedder
        self._counter = counter
        self._mixes_up = False

    def embed(self, texts: Sequence[str]) -> Checked:
        """Embed one batch: every position ends up with a unit vector or a reason.

        Raises EmbedderDownError when not even a plain word gets a vector, and whatever else the
        embedder raises that is not about these texts.
        """
        checked = Checked()
        whole = range(len(texts))
        waiting = self._split(whole) if self._mixes_up or not texts else [whole]
        while waiting:
            positions = waiting.pop(0)
            some = [texts[position] for position in positions]
            try:
                vectors = self._accept(some)
            except BadBatchError as problem:
                if len(positions) > 1:
                    waiting = self._smaller(positions, problem) + waiting
                    continue
                self._rescue(positions[0], some[0], problem, checked)
            else:
                checked.vectors.update(zip(positions, vectors, strict=True))
        return checked

    def _accept(self, texts: Sequence[str], cpu_only: bool = False) -> Vectors:
        """Embed texts once and return their vectors. Raises BadBatchError if one is unsound."""
        dims = self._embedder.profile.dims
        raw = self._embedder.embed_batch(texts, cpu_only=cpu_only)
        vectors = unit_vectors(raw.vectors, len(texts), dims)
        if self._embedder.is_in_process:
            return vectors
        # The longest text, embedded alone, tells two things: whether long texts are cut, and
        # whether the batch came back in order. It costs one text more per batch.
        sizes = [self._counter.count(text) for text in texts]
        longest = sizes.index(max(sizes))
        alone = raw
        if len(texts) > 1:
            alone = self._embedder.embed_batch([texts[longest]], cpu_only=cpu_only)
        self._check_read_whole(alone.evaluated_tokens, sizes[longest])
        if vectors[longest] @ unit_vectors(alone.vectors, 1, dims)[0] < _SAME_COSINE:
            raise _MixedUpError(f"A batch of {len(texts)} came back in another order.")
        return vectors

    def _check_read_whole(self, read: int | None, counted: int) -> None:
        is_same = self._counter.name == "xlm-r" and "bge-m3" in self._embedder.profile.name
        share = _READ_SHARE_SAME_VOCABULARY if is_same else _READ_SHARE
        if read and counted >= _CUT_FROM_TOKENS and read < share * counted:
            raise BadBatchError(f"The server read {read} tokens of a text of about {counted}.")

    def _smaller(self, positions: range, problem: BadBatchError) -> list[range]:
        """Say which batches to try instead of this one."""
        if isinstance(problem, _MixedUpError):
            # Half a batch may pass by luck and still be mixed up; a text alone cannot be.
            self._mixes_up = True
            return self._split(positions)
        if isinstance(problem, SilentError):
            self._prove_it_works()  # else each half would wait for a dead server in turn
        middle = len(positions) // 2
        return [positions[:middle], positions[middle:]]

    @staticmethod
    def _split(positions: range) -> list[range]:
        return [range(position, position + 1) for position in positions]

    def _rescue(self, position: int, text: str, problem: BadBatchError, checked: Checked) -> None:
        """Try what has helped others, then give the text up."""
        remedies: list[Callable[[], Vectors]] = [
            lambda: self._accept([text]),
            lambda: self._accept([text], cpu_only=True),
            lambda: self._accept([_folded(text)], cpu_only=True),
        ]
        if self._embedder.is_in_process or isinstance(problem, SilentError):
            remedies = []  # the same bytes again, or another long wait
        for remedy in remedies:
            try:
                checked.vectors[position] = remedy()[0]
                return
            except BadBatchError as next_problem:
                problem = next_problem
        if not checked.failed:
            self._prove_it_works()  # once a batch: are these texts bad, or is the embedder?
        checked.failed[position] = str(problem)

    def _prove_it_works(self) -> None:
        """Tell bad texts from a broken embedder. Raises EmbedderDownError if it is that."""
        try:
            self._embedder.embed_passages([_PROBE])
        except BadBatchError as problem:
            raise EmbedderDownError(
                f"The embedder fails on a plain word too, so it is broken: {problem} "
                "Start it again, then build again: what is done is kept."
            ) from None


def _folded(text: str) -> str:
    """Fold white space and combining marks, which some models stumble over."""
    return " ".join(unicodedata.normalize("NFC", text).split())
