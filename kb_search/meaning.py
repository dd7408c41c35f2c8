"""The question as a vector, what the vectors of a view can add to it, and what they lack.

The embedder opens with the first question that needs it. A missing or silent one never stops a
search, which then goes by words and says so.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb_core.errors import EmbedderError
from kb_search.hybrid import QueryVector
from kb_search.results import Pending
from kb_search.view import View

if TYPE_CHECKING:  # they load pydantic and the models' clients, which searching may not need
    from kb_core.settings import EmbedderSettings
    from resources.embedder import Embedder, EmbedderProfile, Vectors

OpenEmbedder = Callable[["EmbedderSettings"], "Embedder"]


@dataclass(frozen=True)
class Meaning:
    """What the vectors can add to a question, and what has to be said about it."""

    vector: QueryVector | None = None
    embedder: str | None = None
    note: str = ""
    profile: "EmbedderProfile | None" = None


class Asking:
    """The embedder of the questions."""

    def __init__(self, settings: "EmbedderSettings", opens: OpenEmbedder | None = None) -> None:
        self._settings = settings
        self._opens = opens or _open_embedder
        self._embedder: Embedder | None = None

    def meaning(self, view: View, question: str, variant: str) -> Meaning:
        """Embed the question if the view has vectors of the embedder's own profile."""
        if variant.startswith("keyword") or not question.strip():
            return Meaning()
        profiles = _profiles(view)
        if not profiles:
            return Meaning(note="By words alone: no folder here has vectors yet.")
        try:
            embedder = self._embedder or self._opens(self._settings)
            self._embedder = embedder
            profile = embedder.profile.key()
            if profile not in profiles:
                return Meaning(note=_mismatch(profile, profiles))
            vector = QueryVector(profile, embedder.embed_query(question))
        except EmbedderError as problem:
            return Meaning(note=f"By words alone: {problem}")
        partial = _partial(profiles[profile], view)
        return Meaning(vector, embedder.profile.name, partial, embedder.profile)

    def embed_lines(self, profile: str, texts: Sequence[str]) -> "Vectors | None":
        """Embed what notes say; None without an embedder of this profile on this machine."""
        embedder = self._embedder
        if embedder is None or not embedder.is_local or embedder.profile.key() != profile:
            return None
        try:
            return embedder.embed_passages(texts)
        except EmbedderError:  # the question itself says that there is none any more
            return None


def pending(view: View, folders_without_words: int) -> Pending:
    """Count what has no vectors of the profile that most folders of the view share."""
    profiles = _profiles(view)
    shared = min(profiles, key=lambda profile: (-profiles[profile], profile), default=None)
    covered = view.vectors(shared).size if shared else 0
    return Pending(
        folders_without_vectors=len(view.populated) - (profiles[shared] if shared else 0),
        folders=len(view.populated),
        folders_without_words=folders_without_words,
        texts_without_vectors=view.texts - covered,
        texts=view.texts,
    )


def _open_embedder(settings: "EmbedderSettings") -> "Embedder":
    from resources.embedder import open_embedder

    return open_embedder(settings)


def _profiles(view: View) -> Counter[str]:
    """Count the view's folders by the profile of their vectors."""
    return Counter(folder.vector_profile for folder in view.populated if folder.vector_profile)


def _mismatch(profile: str, profiles: Counter[str]) -> str:
    made = ", ".join(sorted(profiles))
    return (
        f"By words alone: the vectors were made with {made}, the embedder here is {profile}. "
        "Run `kb build`, or set the embedder they were made with in kb.toml."
    )


def _partial(having: int, view: View) -> str:
    total = len(view.populated)
    return "" if having == total else f"Vectors for {having} of {total} folders; the rest by words."
