"""Connected records and ways between two things, with their passages, as one answer. Reads only.

Every passage, link and name is asked about right before it is handed over. What is not handed over
is no part of the walk either: it leads nowhere, is counted nowhere and stands in no trail.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from kb_core.errors import NotBuiltError
from kb_core.ontology import read_ontology
from kb_search.connected_rows import Rows
from kb_search.engine import Engine
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.passages import MOST_TOKENS, passages_of
from kb_search.paths import AGAINST, DEFAULT_BOUNDS, Bounds, Connected, Evident, Shown, connected
from kb_search.permissions import HandOver
from kb_search.policy import Policy, fold_name
from kb_search.shortest_path import Ways
from kb_search.starts import Start, start_of
from kb_search.view import EVERYTHING, View

_WITHOUT = "This build was made before it held links of types. Run `kb build`."


@dataclass(frozen=True)
class Asked:
    """What is asked of connected records."""

    start: str
    links: tuple[str, ...] = ()
    depth: int = 1
    kinds: tuple[str, ...] = ()
    attach: tuple[str, ...] = ()
    bounds: Bounds = DEFAULT_BOUNDS
    most_tokens: int = MOST_TOKENS


class Connecting:
    """Answers over one build by what its notes say of each other."""

    def __init__(self, engine: Engine, policy: Policy = EVERYTHING) -> None:
        """Open what may take part. Raises NotBuiltError when the build holds no links of types."""
        self._engine = engine
        self._policy = policy
        self._ontology = read_ontology(engine.ontology_file)
        self._view: View = engine.view(None, policy)
        graph = engine.knowledge(self._view)
        if graph is None:
            raise NotBuiltError(_WITHOUT)
        self._graph: KnowledgeGraph = graph
        self._over: HandOver = engine.hand_over(self._view, policy)
        self._shown: Shown | None = None if self._over.hands_over_all else self._over
        self._rows = Rows(graph, self._shown)

    def connected(self, asked: Asked) -> dict[str, Any]:
        """Return each stage and the passages as a JSON value."""
        found = connected(
            self._graph,
            asked.start,
            [self._along(each) for each in asked.links],
            asked.depth,
            asked.kinds,
            [self._along(each) for each in asked.attach],
            asked.bounds,
            self._shown,
        )
        passages, cut = passages_of(
            self._view, found.eligible, self._engine.vault_name, self._shown, asked.most_tokens
        )
        words = (
            self._unknown((*asked.links, *asked.attach), found),
            "" if asked.links or asked.attach else self._leading(found.start),
            self._engine.stayed_here(None, self._view, self._policy),
            self._over.words,
        )
        return {
            "asked": asked.start,
            **self._rows.start(found.start),
            "reached": [self._rows.reached(each) for each in found.reached],
            "attached": [self._rows.reached(each) for each in found.attached],
            "eligible": list(found.eligible),
            "passages": [asdict(each) for each in passages],
            "truncated": [asdict(each) for each in (*found.truncated, *cut)],
            "build": self._engine.build.name,
            "note": " ".join(filter(None, words)),
        }

    def path(self, start: str, end: str) -> dict[str, Any]:
        """Return the shortest way between two things as a JSON value; either may be asked back."""
        one, other = self._meant(start), self._meant(end)
        hops = None
        if one.number is not None and other.number is not None:
            notes = self._engine.notes_in(self._view)
            hops = Ways(self._graph, notes, self._shown).shortest(one.number, other.number)
        return {
            "from": {"asked": start, **self._rows.start(one)},
            "to": {"asked": end, **self._rows.start(other)},
            "hops": None if hops is None else self._rows.hops(one.number or 0, hops),
            "build": self._engine.build.name,
            "note": self._over.words,
        }

    def _along(self, name: str) -> str:
        """Return the type a property says from its other end: `feeds` is `^DEPENDS_ON`."""
        bare = name.strip().removeprefix(AGAINST)
        said = self._ontology.link(fold_name(bare))
        if said is None or not said.is_inverse or fold_name(bare) == fold_name(said.type):
            return name
        return said.type if name.strip().startswith(AGAINST) else f"{AGAINST}{said.type}"

    def _meant(self, text: str) -> Start:
        found = start_of(self._graph, text)
        return found.among(Evident(self._graph, self._shown).entity)

    def _leading(self, start: Start) -> str:
        """Say by which types links lead on, where none was asked for."""
        if start.number is None:
            return ""
        evident = Evident(self._graph, self._shown)
        found = {
            f"{'' if is_source else AGAINST}{link.type}"
            for line, other, is_source in self._graph.links_of(start.number)
            if evident.line(line) and evident.entity(other)
            if (link := self._graph.line(line).link)
        }
        types = ", ".join(sorted(found, key=lambda each: (each.startswith(AGAINST), each)))
        return f"Links that lead on from here: {types}." if types else "No link leads on from here."

    def _unknown(self, names: Collection[str], found: Connected) -> str:
        """Say which link types there are, where one was asked for that nothing here has.

        Not where a service is asked: a type may be known from passages alone that it refuses.
        """
        if self._over.asks_a_service or found.start.is_asked_back:
            return ""
        lines = {line for each in (*found.reached, *found.attached) for line in each.lines}
        links = [link for line in lines if (link := self._graph.line(line).link)]
        used = {fold_name(name) for link in links for name in (link.type, *link.labels)}
        known = {fold_name(each) for each in self._graph.link_types}
        missing = [each for each in names if fold_name(each.lstrip("^ ")) not in used | known]
        if not missing:
            return ""
        types = ", ".join(self._graph.link_types) or "none"
        return f"No link followed is called {', '.join(missing)}. Types there are: {types}."
