"""What a process loads once and shares, however many ask for it."""

import threading
from functools import cache
from pathlib import Path

from resources.e5.encoder import Encoder
from resources.e5.graph_file import read_or_build
from resources.e5.tokenizer import Tokenizer
from resources.e5.weights import WeightFile, find_weights

_ONE_AT_A_TIME = threading.Lock()  # two threads that ask at once must not both load


def load_weights() -> WeightFile:
    """Map the weight file. Raises EmbedderMissingError or EmbedderError."""
    with _ONE_AT_A_TIME:
        return _weights()


def check_weights() -> None:
    """Read all of the weight file, once per process. Raises EmbedderError if it is damaged."""
    with _ONE_AT_A_TIME:
        _check()


def load_tokenizer() -> Tokenizer:
    """Index the vocabulary. Raises EmbedderMissingError or EmbedderError."""
    with _ONE_AT_A_TIME:
        return _tokenizer()


def load_encoder(folder: Path) -> Encoder:
    """Load the model, whose graph is kept in `folder`. Raises EmbedderError."""
    with _ONE_AT_A_TIME:
        return _encoder(folder)


@cache
def _weights() -> WeightFile:
    return WeightFile(find_weights())


@cache
def _check() -> None:
    _weights().check()


@cache
def _tokenizer() -> Tokenizer:
    return Tokenizer(_weights().vocabulary())


@cache
def _encoder(folder: Path) -> Encoder:
    return Encoder(_weights(), _tokenizer(), read_or_build(_weights(), folder))
