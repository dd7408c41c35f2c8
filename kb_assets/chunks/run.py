"""Cut a folder's notes into passages. Safe to repeat."""

from kb_assets.choices import read_choices, token_counter
from kb_assets.chunks.chunker import VERSION, chunk_notes
from kb_assets.chunks.limits import Limits
from kb_assets.outcome import Outcome, input_hashes, run_tables
from kb_core.ids import json_hash
from resources.home import Home


def run(home: Home, partition: str) -> Outcome:
    """Cut every kept version of every note of the folder.

    Raises EmbedderMissingError when the home counts tokens with a model that is not installed.
    """
    choices = read_choices(home)
    cut_by = json_hash({"counter": choices.token_counter, **choices.chunk_sizes})
    return run_tables(
        home,
        "chunks",
        partition,
        names=("chunks",),
        inputs={**input_hashes(home, ["notes"], partition), "cut_by": cut_by},
        code_version=VERSION,
        make=lambda: {
            "chunks": chunk_notes(
                home.store.read("notes", partition),
                Limits(**choices.chunk_sizes),
                token_counter(choices),
            )
        },
    )
