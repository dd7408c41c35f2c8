"""How long the vectors will take on this machine, said before they are begun."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from kb_core.errors import EmbedderError, HomeError
from kb_serve.output import duration
from resources.embedder import Embedder, open_embedder
from resources.home import Home

_TRIAL = "Minutes of the meeting about the price of the new product. " * 17  # about 200 tokens
_TRIALS = 4
# Fewer passages than this are done before a trial would have told how long they take.
_WORTH_A_TRIAL = 50


def pending_passages(home: Home, partitions: Sequence[str], embedder: Embedder) -> int:
    """Estimate how many passages the folders without complete vectors still need, at most.

    Texts that the cache holds from before count too: looking each up would take as long.
    """
    return sum(_passages(home, partition, embedder) for partition in partitions)


def _passages(home: Home, partition: str, embedder: Embedder) -> int:
    if home.store.pointer("chunks", partition) is None:
        return 0
    chunks = home.store.read("chunks", partition, ["text_id", "tokens"])
    size = embedder.profile.passage_tokens
    if size is None:
        return int(pc.count_distinct(chunks["text_id"]).as_py())
    return sum(max(1, round(tokens / size)) for tokens in chunks["tokens"].to_pylist())


def passages_per_second(embedder: Embedder) -> float:
    """Embed a few made-up passages and return the speed. Raises EmbedderError."""
    embedder.embed_passages([_TRIAL])  # loads the weights
    start = time.perf_counter()
    embedder.embed_passages([_TRIAL] * _TRIALS)
    return _TRIALS / (time.perf_counter() - start)


def is_worth_saying(passages: int) -> bool:
    """Tell whether the work is long enough to say how long it takes."""
    return passages >= _WORTH_A_TRIAL


def how_long(home: Home, partitions: Sequence[str], embedder: Embedder) -> str:
    """Say how long the vectors of some folders take; nothing if that is not worth saying.

    Raises EmbedderError.
    """
    passages = pending_passages(home, partitions, embedder)
    if not is_worth_saying(passages):
        return ""
    seconds = passages / passages_per_second(embedder)
    return (
        f"  vectors: about {passages:,} passages by {embedder.profile.name}, "
        f"about {duration(seconds)}. Words can be searched meanwhile."
    )


def refuse_other_embedder(home: Home, recorded: Mapping[str, Any] | None) -> None:
    """Refuse to mix two embedders' vectors, and say what changing over would take.

    Raises HomeError when the embedder at hand is not the one the home's vectors were made with.
    """
    if recorded is None:
        return
    try:
        embedder = open_embedder(home.settings.embedder)
        if embedder.profile.to_json() == dict(recorded):
            return
        passages = pending_passages(home, list(home.folders()), embedder)
        seconds = passages / passages_per_second(embedder)
    except EmbedderError:
        return  # without an embedder the vectors that are there stay, and nothing is mixed
    raise HomeError(
        f"This home's vectors were made by {recorded['name']}; the embedder at hand is "
        f"{embedder.profile.name}. Vectors of two embedders never mix. Set the old one in kb.toml, "
        f"or run `kb build --migrate`: about {passages:,} passages are embedded anew, about "
        f"{duration(seconds)} on this machine; words answer meanwhile."
    )
