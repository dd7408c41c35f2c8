"""Keep the graph on disk, so that only the first process on a machine has to build it.

Safe to interrupt and to run twice at once: a file appears whole, and two builders write equal
bytes. What is damaged, or was built by another recipe, is built again. A folder that cannot be
written to costs half a second at each start and nothing else.
"""

import contextlib
import hashlib
import os
import sys
from pathlib import Path

from resources.atomic_files import write_atomically
from resources.e5.graph import build_graph
from resources.e5.product import integer_product
from resources.e5.smoothing import smoothing
from resources.e5.weights import WeightFile

# What the release's weights, the graph and the smoothing give, on every machine. It is part of the
# profile, so whoever changes one of them cannot mix new vectors with old ones.
GRAPH_DIGEST = "dee283691916045a8729c168faec3ac4158fa9ac09878a47fab92189675a8e11"

_FOLDER = "vault-knowledge-base"
_NAME_DIGITS = 12


def cache_folder() -> Path:
    """Return the user's folder for what can be made again, as the system has it."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    elif os.environ.get("XDG_CACHE_HOME"):
        base = Path(os.environ["XDG_CACHE_HOME"])
    else:
        base = Path.home() / ".cache"
    return base / _FOLDER


def graph_path(folder: Path) -> Path:
    """Return where the graph lies."""
    return folder / f"e5-small-{GRAPH_DIGEST[:_NAME_DIGITS]}.onnx"


def read_or_build(weights: WeightFile, folder: Path) -> bytes:
    """Return the graph, built from checked weights and kept if it was not there.

    Raises EmbedderError if the weights are not the release's.
    """
    path = graph_path(folder)
    kept = _read(path)
    if kept is not None:
        return kept
    weights.check()
    graph = build_graph(weights, integer_product(smoothing()))
    # A full disk or a folder of somebody else's is no reason not to answer.
    with contextlib.suppress(OSError):
        write_atomically(path, graph)
    return graph


def _read(path: Path) -> bytes | None:
    """Return a kept graph, or None if there is none or it is another."""
    try:
        graph = path.read_bytes()
    except OSError:
        return None
    return graph if hashlib.sha256(graph).hexdigest() == GRAPH_DIGEST else None
