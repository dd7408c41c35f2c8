"""Answer questions from the published build: by words, and by meaning where there are vectors.

Opening loads no model and no folder. The embedder opens with the first question that needs it; a
missing or silent one never stops a search, which then goes by words and says so.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kb_search.build import PublishedBuild
from kb_search.graph_search import GraphScope, Way
from kb_search.hybrid import (
    DEFAULT_TUNING,
    GRAPH_ALONE,
    KEYWORD_GRAPH,
    LINKED,
    ROUTED,
    UNTRIMMED,
    RankedNote,
    Tuning,
    base_of,
    check_variant,
    rank,
    uses_graph,
)
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.knowledge_view import knowledge_of_view
from kb_search.line_vectors import FilledVectors
from kb_search.linked import LinkedScope
from kb_search.live_rules import LiveSettings, open_view
from kb_search.meaning import Asking, Meaning, OpenEmbedder, pending
from kb_search.note_graph import NotesInView
from kb_search.note_graph_view import note_graph_of
from kb_search.permissions import HandOver
from kb_search.policy import Policy
from kb_search.question import question_terms
from kb_search.results import SearchResult, found_note
from kb_search.view import EVERYTHING, View
from resources.builds import Builds
from resources.permissions import PermissionService, open_service

if TYPE_CHECKING:  # they load pydantic and the models' clients, which searching may not need
    from kb_core.settings import Settings

# Raise it when the same build would answer the same question otherwise: builds are scored anew.
VERSION = "3"

_KEPT_VIEWS = 32


class Engine:
    """A published build and the embedder that fits it."""

    def __init__(
        self,
        build: PublishedBuild,
        settings: "Settings",
        vault_name: str,
        open_embedder: OpenEmbedder | None = None,
        folders_without_words: int = 0,
        home: Path | None = None,
    ) -> None:
        self._live = LiveSettings(settings, home)
        self._seen_by = settings
        self._service: PermissionService | None = None
        self._folders_without_words = folders_without_words
        self.build = build
        self._settings = settings
        self.vault_name = vault_name
        # A home's own, over the package's; see kb_core.ontology.
        self.ontology_file = home / "data" / "ontology.toml" if home else None
        self._asking = Asking(settings.embedder, open_embedder)
        self._views: dict[tuple[tuple[str, ...] | None, Policy], View] = {}
        self._links: dict[View, LinkedScope] = {}
        self._knowledge: dict[View, KnowledgeGraph | None] = {}
        self._graphs: dict[View, GraphScope] = {}

    @classmethod
    def open(cls, home: Path, settings: "Settings", name: str | None = None) -> "Engine":
        """Open a home's published build, or another one by its name.

        Raises NotBuiltError when nothing is published and StoreError when a file is missing.
        """
        vault = (home / Path(settings.vault.path).expanduser()).resolve()
        build = PublishedBuild.open(home, name)
        report = Builds(home / "data").report(build.name)
        missing = int(report.get("folders", 0)) - int(report.get("folders_with_words", 0))
        return cls(build, settings, vault.name, folders_without_words=missing, home=home)

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
        view = self.view(folders, policy)
        terms = question_terms(question)
        meaning = self._asking.meaning(view, question, variant)
        linked, graph = self._linked(view, variant), self._graph(view, variant)
        by = _served_by(variant, meaning, linked, graph)
        limit = notes or self._settings.search.notes
        join = (lambda base: linked.leg(question, base)) if linked else None
        is_asked = bool(question.strip())
        over = self.hand_over(view, policy)

        def best(most: int) -> list[RankedNote]:
            return rank(view, terms, meaning.vector, by, most, tuning, join)

        ranked = over.filled(best, limit) if is_asked else []
        guided = None
        if graph and is_asked:
            way = _way(by, tuning, meaning)
            guided = graph.search(question, terms, ranked, meaning.vector, way, over, limit)
            ranked = list(guided.ranked)
        weights = view.keyword.weights(terms) if ranked else {}
        return SearchResult(
            question=question,
            variant=by,
            build=self.build.name,
            pending=pending(view, self._folders_without_words),
            embedder=meaning.embedder,
            note=_joined(
                meaning.note,
                _without_links(variant, linked, graph),
                self.stayed_here(folders, view, policy),
                over.words,
            ),
            results=tuple(
                found_note(place, note, weights, self.vault_name)
                for place, note in enumerate(ranked, start=1)
            ),
            ranked=tuple(ranked),
            guided=guided,
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

    def _graph(self, view: View, variant: str) -> GraphScope | None:
        """Return the graph of a view; None if not asked for, or not built yet."""
        if not uses_graph(variant):
            return None
        if view not in self._graphs:
            graph = self.knowledge(view)
            if graph is None:
                return None
            self._graphs[view] = GraphScope(graph, view, self._lines)
        return self._graphs[view]

    def hand_over(self, view: View, policy: Policy) -> HandOver:
        """Open the last check of one answer's passages: the rules and the service of now.

        Raises SettingsError when the service that kb.toml names cannot be opened.
        """
        settings = self._live.now()
        self._service = self._service or open_service(settings.policy.service)
        return HandOver(view, policy, settings, self._service)

    def view(self, folders: Sequence[str] | None, policy: Policy = EVERYTHING) -> View:
        """Return what may take part, of the named folders or of all; the same one while it holds.

        What kb.toml has closed since the build is as good as absent. Raises SettingsError for an
        unknown folder.
        """
        if self._live.now() is not self._seen_by:
            self._seen_by = self._live.now()
            self._service = None
            self._forget()
        return self._view(folders, policy)

    def stayed_here(self, folders: Sequence[str] | None, view: View, policy: Policy) -> str:
        """Say how many notes were left out of an answer that is sent; empty for none."""
        if not policy.is_sent:
            return ""
        whole = self.view(folders, replace(policy, is_sent=False))
        count = len(whole.notes) - len(view.notes)
        notes = "1 note" if count == 1 else f"{count:,} notes"
        return f"{notes} stayed on this machine." if count else ""

    def knowledge(self, view: View) -> KnowledgeGraph | None:
        """Return what the chunks of a view say; None in a build that was made without that."""
        if view not in self._knowledge:
            self._knowledge[view] = knowledge_of_view(
                self.build, view, self._settings.graph.hub_chunks or None
            )
        return self._knowledge[view]

    def notes_in(self, view: View) -> NotesInView | None:
        """Return the links between the notes of a view; None in a build made without them."""
        graph = note_graph_of(self.build, view)
        return graph.within(view.notes) if graph else None

    @cached_property
    def _lines(self) -> FilledVectors | None:
        """The vectors of lines; None in a build that was made without."""
        held = self.build.line_vectors
        return FilledVectors(held, self._asking.embed_lines) if held else None

    def _forget(self) -> None:
        self._views.clear()
        self._links.clear()
        self._knowledge.clear()
        self._graphs.clear()

    def _view(self, folders: Sequence[str] | None, policy: Policy = EVERYTHING) -> View:
        key = (None if folders is None else tuple(folders), policy)
        held = self._views.get(key)
        if held is None or held.is_over(time.time_ns() // 1000):
            if len(self._views) >= _KEPT_VIEWS:
                self._forget()
            self._views[key] = open_view(self.build, folders, policy, self._seen_by)
        return self._views[key]


def _served_by(
    variant: str, meaning: Meaning, linked: LinkedScope | None, graph: GraphScope | None
) -> str:
    """Return the variant that can be served: by words without vectors, or without the links."""
    if graph:
        return variant if meaning.vector else KEYWORD_GRAPH
    base = base_of(variant) if meaning.vector else "keyword"
    return f"{base}{LINKED}" if linked else base


def _way(by: str, tuning: Tuning, meaning: Meaning) -> Way:
    """Return how the graph takes part in a variant."""
    return Way(
        is_routed=by == ROUTED,
        has_base=by != GRAPH_ALONE,
        is_trimmed=not by.endswith(UNTRIMMED),
        margin=tuning.margin,
        profile_margin=meaning.profile.trim_margin if meaning.profile else None,
    )


def _joined(*words: str) -> str:
    return " ".join(filter(None, words))


def _without_links(variant: str, linked: LinkedScope | None, graph: GraphScope | None) -> str:
    if variant.endswith(LINKED) and linked is None:
        return "Without links: this build was made before they were. Run `kb build`."
    if uses_graph(variant) and graph is None:
        return "Without the graph: this build was made before it was. Run `kb build`."
    return ""
