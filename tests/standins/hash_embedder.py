"""Vectors from words alone: texts that share words are near, and nothing has to be learnt.

Deterministic on every machine. Good enough to see that the right text is found; says nothing
about quality.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import xxhash
from numpy.typing import NDArray

from resources.embedder import EmbedderProfile, RawBatch, unit_vectors

Vectors = NDArray[np.float32]

_WORD = re.compile(r"[a-z0-9]+|[^\x00-\x7f\s]")


def text_vector(text: str, dims: int) -> NDArray[np.float64]:
    """Return the text's unit vector, (dims,): the sum of one random vector per distinct word."""
    words = sorted(set(_WORD.findall(text.lower()))) or [""]
    total = np.sum([_word_vector(word, dims) for word in words], axis=0)
    return total / np.linalg.norm(total)


@lru_cache(maxsize=10_000)
def _word_vector(word: str, dims: int) -> NDArray[np.float64]:
    return np.random.default_rng(
        xxhash.xxh3_64_intdigest(word.encode("utf-8", "replace"))
    ).standard_normal(dims)


class HashEmbedder:
    """The smallest embedder that keeps the promises of `Embedder`. Notes down every batch."""

    is_in_process = True
    is_local = True

    def __init__(
        self, dims: int = 32, passage_tokens: int | None = None, largest_batch: int = 4
    ) -> None:
        self.profile = EmbedderProfile(
            name="hash-words",
            engine="stand-in",
            dims=dims,
            window_tokens=8192,
            passage_tokens=passage_tokens,
            query_prefix="",
            passage_prefix="",
            trim_margin=0.15,
            weights_digest="",
            recipe="1",
        )
        self.largest_batch = largest_batch
        self.batches: list[list[str]] = []

    def embed_batch(self, texts: Sequence[str], *, cpu_only: bool = False) -> RawBatch:
        """Return what `embed_passages` checks."""
        self.batches.append(list(texts))
        rows = [text_vector(text, self.profile.dims) for text in texts]
        return RawBatch(np.array(rows).reshape(len(texts), self.profile.dims))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text."""
        return unit_vectors(self.embed_batch(texts).vectors, len(texts), self.profile.dims)

    def embed_query(self, text: str) -> Vectors:
        """Return the question's unit vector."""
        return self.embed_passages([text])[0]
