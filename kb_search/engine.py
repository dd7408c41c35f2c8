"""Answer questions from the published build: by words, and by meaning where there are vectors.

Opening loads no model and no folder. The embedder opens with the first question that needs it; a
missing or silent one never stops a search, which then goes by words and says so.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kb_core.errors import EmbedderError
from kb_search.build import PublishedBuild
from kb_search.hybrid import DEFAULT_TUNING, LINKED, QueryVector, Tuning, check_variant, rank
from kb_search.linked import LinkedScope
from kb_search.note_graph_view import note_graph_of
from kb_search.policy import Policy
from kb_search.question import question_terms
from kb_search.results import Pending, SearchResult, found_note
from kb_search.view import EVERYTHING, View
from resources.builds import Builds

if TYPE_CHECKING:  # they load pydantic and the models' clients, which searching may not need
    from kb_core.settings import EmbedderSettings, Settings
    from resources.embedder import Embedder

# Raise it when the same build would answer the same question otherwise: builds are scored anew.
VERSION = "2"

_KEPT_VIEWS = 32

OpenEmbedder = Callable[["EmbedderSettings"], "Embedder"]


@dataclass(frozen=True)
class _Meaning:
    """What the vectors can add to a question, and what has to be said about it."""

    vector: QueryVector | None = None
    embedder: str | None = None
    note: str = ""


class Engine:
    """A published build and the embedder that fits it."""

    def __init__(
        self,
        build: PublishedBuild,
        settings: "Settings",
        vault_name: str,
        open_embedder: OpenEmbedder | None = None,
        folders_without_words: int = 0,
    ) -> None:
        self._folders_without_words = folders_without_words
        self.build = build
        self._settings = settings
        self._vault_name = vault_name
        self._open_embedder = open_embedder or _open_embedder
        self._embedder: Embedder | None = None
        self._views: dict[tuple[tuple[str, ...] | None, Policy], View] = {}
        self._links: dict[View, LinkedScope] = {}

    @classmethod
    def open(cls, home: Path, settings: "Settings", name: str | None = None) -> "Engine":
        """Open a home's published build, or another one by its name.

        Raises NotBuiltError when nothing is published and StoreError when a file is missing.
        """
        vault = (home / Path(settings.vault.path).expanduser()).resolve()
        build = PublishedBuild.open(home, name)
        report = Builds(home / "data").report(build.name)
        missing = int(report.get("folders", 0)) - int(report.get("folders_with_words", 0))
        return cls(build, settings, vault.name, folders_without_words=missing)

    def search(
        self,
        question: str,
        folders: Sequence[str] | None = None,
        variant: str = "hybrid",
        notes: int | None = None,
        tuning: Tuning = DEFAULT_TUNING,
        policy: Policy = EVERYTHING,
    ) -> SearchResult:
        """Return the best notes for a question, within some folders or all, under a policy.

        Raises SettingsError for an unknown folder or variant.
        """
        check_variant(variant)
        view = self._view(folders, policy)
        terms = question_terms(question)
        meaning = self._meaning(view, question, variant)
        linked = self._linked(view, variant)
        by = _served_by(variant, meaning, linked)
        limit = notes or self._settings.search.notes
        join = (lambda base: linked.leg(question, base)) if linked else None
        is_asked = bool(question.strip())
        ranked = rank(view, terms, meaning.vector, by, limit, tuning, join) if is_asked else []
        weights = view.keyword.weights(terms) if ranked else {}
        return SearchResult(
            question=question,
            variant=by,
            build=self.build.name,
            pending=_pending(view, self._folders_without_words),
            embedder=meaning.embedder,
            note=" ".join(filter(None, (meaning.note, _without_links(variant, linked)))),
            results=tuple(
                found_note(place, note, weights, self._vault_name)
                for place, note in enumerate(ranked, start=1)
            ),
            ranked=tuple(ranked),
        )

    def _linked(self, view: View, variant: str) -> LinkedScope | None:
        """Return the links between a view's notes; None if not asked for, or not built yet."""
        if not variant.endswith(LINKED):
            return None
        if view not in self._links:
            graph = note_graph_of(self.build, view)
            if graph is None:
                return None
            self._links[view] = LinkedScope(graph, view)
        return self._links[view]

    def _view(self, folders: Sequence[str] | None, policy: Policy = EVERYTHING) -> View:
        key = (None if folders is None else tuple(folders), policy)
        held = self._views.get(key)
        if held is None or held.is_over(time.time_ns() // 1000):
            if len(self._views) >= _KEPT_VIEWS:
                self._views.clear()
                self._links.clear()
            self._views[key] = View.over(self.build, folders, policy)
        return self._views[key]

    def _meaning(self, view: View, question: str, variant: str) -> _Meaning:
        """Embed the question if the view has vectors of the embedder's own profile."""
        if variant.startswith("keyword") or not question.strip():
            return _Meaning()
        profiles = _profiles(view)
        if not profiles:
            return _Meaning(note="By words alone: no folder here has vectors yet.")
        try:
            embedder = self._embedder or self._open_embedder(self._settings.embedder)
            self._embedder = embedder
            profile = embedder.profile.key()
            if profile not in profiles:
                return _Meaning(note=_mismatch(profile, profiles))
            vector = QueryVector(profile, embedder.embed_query(question))
        except EmbedderError as problem:
            return _Meaning(note=f"By words alone: {problem}")
        return _Meaning(vector, embedder.profile.name, _partial(profiles[profile], view))


def _served_by(variant: str, meaning: _Meaning, linked: LinkedScope | None) -> str:
    """Return the variant that can be served: by words without vectors, or without the links."""
    base = variant.removesuffix(LINKED) if meaning.vector else "keyword"
    return f"{base}{LINKED}" if linked else base


def _without_links(variant: str, linked: LinkedScope | None) -> str:
    is_missed = variant.endswith(LINKED) and linked is None
    return "Without links: this build was made before they were. Run `kb build`." * is_missed


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


def _pending(view: View, folders_without_words: int) -> Pending:
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
