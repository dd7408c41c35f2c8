"""The choices a home makes once, because changing them makes its old work useless.

They are decided at `kb init` or the first build and recorded in the home. A kb.toml that later says
otherwise is refused until the user asks for the migration: it re-cuts or re-embeds every note.
"""

from dataclasses import dataclass
from typing import Any

from kb_core.errors import HomeError
from kb_core.settings import ChunkSettings
from kb_core.tokens import TokenCounter
from resources.home import Home
from resources.token_counter import has_xlmr, open_token_counter


@dataclass(frozen=True)
class Choices:
    """What this home cuts and embeds its notes with."""

    token_counter: str
    chunk_sizes: dict[str, int]
    embedder: dict[str, Any] | None  # the profile of its vectors; None: no vector made yet

    def to_json(self) -> dict[str, Any]:
        """Return what a build's manifest records."""
        return {
            "token_counter": self.token_counter,
            "chunk_sizes": self.chunk_sizes,
            "embedder": self.embedder,
        }


def read_choices(home: Home, *, migrate: bool = False) -> Choices:
    """Return the home's choices, deciding and recording them the first time.

    Raises HomeError when kb.toml asks for others than were recorded and `migrate` is not set.
    """
    wanted = home.settings.chunks
    recorded = home.record("home").get("choices")
    if recorded is None or migrate:
        embedder = None if migrate or not recorded else recorded.get("embedder")
        choices = Choices(_counter_name(wanted), _sizes(wanted), embedder)
        home.remember(choices=choices.to_json())
        return choices
    choices = Choices(**recorded)
    _refuse_change(home, choices)
    return choices


def remember_embedder(home: Home, profile: dict[str, Any]) -> Choices:
    """Record the profile of the home's first vectors. Raises HomeError if it has another."""
    choices = read_choices(home)
    if choices.embedder is None:
        choices = Choices(choices.token_counter, choices.chunk_sizes, profile)
        home.remember(choices=choices.to_json())
    elif choices.embedder != profile:
        raise HomeError(
            f"This home's vectors were made by {choices.embedder.get('name')!r}, the embedder at "
            f"hand is {profile.get('name')!r} or another version of it. Vectors of two models "
            "never mix. Go back to the old one in kb.toml, or run `kb build --migrate`, which "
            "embeds every note anew."
        )
    return choices


def token_counter(choices: Choices) -> TokenCounter:
    """Open the home's token counter. Raises EmbedderMissingError if its package is gone."""
    return open_token_counter(choices.token_counter)


def _counter_name(wanted: ChunkSettings) -> str:
    if wanted.token_counter == "auto":
        return "xlm-r" if has_xlmr() else "regex"
    return wanted.token_counter


def _sizes(wanted: ChunkSettings) -> dict[str, int]:
    return wanted.model_dump(exclude={"token_counter"})


def _refuse_change(home: Home, choices: Choices) -> None:
    wanted = home.settings.chunks
    is_other_counter = wanted.token_counter not in ("auto", choices.token_counter)
    if not is_other_counter and _sizes(wanted) == choices.chunk_sizes:
        return
    raise HomeError(
        f"kb.toml asks for other chunks ([chunks]) than {home.root} was built with "
        f"(counter {choices.token_counter}, sizes {choices.chunk_sizes}). Every note would be cut "
        "and embedded anew. Change kb.toml back, or run `kb build --migrate`."
    )
