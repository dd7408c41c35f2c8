"""Which embedder and which token counter this home makes vectors with. No Dagster."""

from kb_assets.choices import read_choices, remember_embedder, token_counter
from kb_core.errors import EmbedderError
from kb_core.tokens import TokenCounter
from resources.embedder import Embedder, EmbedderProfile, open_embedder
from resources.home import Home
from resources.token_counter import open_token_counter


def open_for(home: Home) -> tuple[Embedder | None, EmbedderError | None]:
    """Open the home's embedder, or return why there is none. Raises HomeError for another one."""
    try:
        embedder = open_embedder(home.settings.embedder)
    except EmbedderError as problem:
        return None, problem
    remember_embedder(home, embedder.profile.to_json())
    return embedder, None


def counter_of(home: Home, profile: EmbedderProfile) -> TokenCounter:
    """Cut passages by the model's own tokens; where a text is one vector, use the home's."""
    if profile.passage_tokens:
        return open_token_counter("xlm-r")
    return token_counter(read_choices(home))


def recorded_profile(home: Home) -> EmbedderProfile | None:
    """Return the profile of the vectors this home has."""
    recorded = read_choices(home).embedder
    return EmbedderProfile(**recorded) if recorded else None
