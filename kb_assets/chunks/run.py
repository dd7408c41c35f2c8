"""Cut a folder's notes into passages. Safe to repeat."""

from kb_assets.choices import read_choices, token_counter
from kb_assets.chunks.chunker import VERSION, chunk_notes
from kb_assets.chunks.limits import Limits
from kb_assets.outcome import Outcome, are_held, input_hashes, run_tables
from kb_core.ids import json_hash
from resources.home import Home


def run(home: Home, partition: str) -> Outcome:
    """Cut every kept version of every note of the folder.

    Raises EmbedderMissingError when the home counts tokens with a model that is not installed.
    """
    choices = read_choices(home)
    return run_tables(
        home,
        "chunks",
        partition,
        names=("chunks",),
        inputs=_inputs(home, partition),
        code_version=VERSION,
        make=lambda: {
            "chunks": chunk_notes(
                home.store.read("notes", partition),
                Limits(**choices.chunk_sizes),
                token_counter(choices),
            )
        },
    )


def is_fresh(home: Home, partition: str) -> bool:
    """Tell whether a run would find nothing to do."""
    return are_held(home, ["chunks"], partition, _inputs(home, partition), VERSION)


def _inputs(home: Home, partition: str) -> dict[str, str]:
    choices = read_choices(home)
    cut_by = json_hash({"counter": choices.token_counter, **choices.chunk_sizes})
    return {**input_hashes(home, ["notes"], partition), "cut_by": cut_by}
