"""The ways of searching that are compared, under one name each and behind one door.

`hybrid`, `keyword` and `vector` are the search's own; `hybrid:k=20:cap=1` turns what a sweep may
turn; `bm25s` is a well-known keyword search with its default settings over whole notes. Every
variant gives the same depth of notes and the full text of what it chose.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from eval_assets.metrics import Behaviour
from eval_assets.reading import BUDGET_TOKENS, Passage
from kb_core.contracts import NOTES
from kb_core.errors import SettingsError
from kb_core.tokens import RegexTokenCounter, TokenCounter
from kb_search.context import Item, assemble, context_chunks
from kb_search.engine import Engine
from kb_search.hybrid import DEFAULT_TUNING, Tuning, check_variant
from kb_search.results import SearchResult
from kb_search.vectors import largest
from resources.builds import Builds
from resources.tables import read_parquet

DEPTH = 20  # notes a variant may name; every measure looks at no more
BASELINE = "bm25s"
_TURNED = {"k": "k", "cap": "chunks_per_note"}
_SHARES = ("margin", "split")  # in hundredths: `hybrid+graph:margin=5`


@dataclass(frozen=True)
class Asked:
    """What a variant gave for one question."""

    ranking: tuple[str, ...]  # distinct notes, best first
    passages: tuple[Passage, ...]  # what an answerer would read, in order, not cut yet
    seconds: float  # wall time until the ranking was there
    decision: Behaviour | None = None  # answer, refuse or ask_back; None: it gives no such signal
    problem: str = ""  # why this is not what was asked for


class Variant(Protocol):
    """One way of searching."""

    @property
    def name(self) -> str:
        """Return the name in tables and files."""

    @property
    def is_random(self) -> bool:
        """Tell whether asking twice may give two answers: such a variant is asked three times."""

    def ask(self, question: str, folders: Sequence[str] | None = None) -> Asked:
        """Ask within some folders or the whole build."""


class EngineVariant:
    """A variant of the search itself."""

    is_random = False

    def __init__(self, engine: Engine, name: str, counter: TokenCounter | None = None) -> None:
        self.name = name
        self._engine = engine
        self._by, self._tuning = parse(name)
        self._counter = counter or RegexTokenCounter()

    def ask(self, question: str, folders: Sequence[str] | None = None) -> Asked:
        """Search; a variant that had to fall back to words says so as a problem."""
        start = time.perf_counter()
        found = self._engine.search(
            question, folders=folders, variant=self._by, notes=DEPTH, tuning=self._tuning
        )
        seconds = time.perf_counter() - start
        return Asked(
            ranking=tuple(row.note for row in found.results),
            passages=tuple(self._passages(found)),
            seconds=seconds,
            decision=found.decision.behaviour if found.decision else None,
            problem=found.note if found.variant != self._by else "",
        )

    def _passages(self, found: SearchResult) -> Iterator[Passage]:
        """Yield what an answerer would read: with lines, what fits the budget comes first."""
        read: list[Item] = []
        if found.lines:
            share = self._tuning.split
            context = assemble(found.ranked, found.lines, self._counter.count, line_share=share)
            read = list(context.items)
        yield from (Passage(each.note, each.text, each.tokens) for each in read)
        held = {(each.note, each.text) for each in read}
        for chunk in context_chunks(found.ranked):
            if (chunk.note, chunk.text) not in held:
                yield Passage(chunk.note, chunk.text, chunk.tokens)


class Bm25sVariant:
    """The bm25s package as it comes: its tokeniser, its stop words, its constants.

    Only the cut is ours: the package leaves open which of several notes of one score it gives.
    """

    name = BASELINE
    is_random = False

    def __init__(self, notes: pa.Table, counter: TokenCounter) -> None:
        """Take the present notes: `note_id`, `text`, sorted by id."""
        self._ids: list[str] = notes["note_id"].to_pylist()
        self._texts: list[str] = notes["text"].to_pylist()
        self._counter = counter
        self._passages: dict[int, Passage] = {}

    @cached_property
    def _index(self) -> Any:
        import bm25s  # 0.3 s, and only this variant needs it

        tokens = bm25s.tokenize(self._texts, show_progress=False)
        if not tokens.vocab:  # the package indexes no vault without a word
            return None
        index = bm25s.BM25()
        index.index(tokens, show_progress=False)
        return index

    def ask(self, question: str, folders: Sequence[str] | None = None) -> Asked:
        """Rank whole notes. Raises SettingsError within folders: its index knows none."""
        if folders is not None:
            raise SettingsError(f"{BASELINE} cannot be asked within folders.")
        index = self._index
        start = time.perf_counter()
        found = _best(index, question) if index else []
        seconds = time.perf_counter() - start
        ranking = tuple(self._ids[at] for at in found)
        return Asked(ranking, tuple(self._read(found)), seconds)

    def _read(self, places: Sequence[int]) -> Iterator[Passage]:
        """Yield whole notes until the budget is spent: counting the rest would take longest."""
        room = BUDGET_TOKENS
        for at in places:
            if room <= 0:
                return
            passage = self._passage(at)
            yield passage
            room -= passage.tokens

    def _passage(self, at: int) -> Passage:
        if at not in self._passages:
            text = self._texts[at]
            self._passages[at] = Passage(self._ids[at], text, self._counter.count(text))
        return self._passages[at]


def _best(index: Any, question: str) -> list[int]:
    """Return the places of the best notes, equal ones in the order of their ids."""
    import bm25s

    (words,) = bm25s.tokenize(question, return_ids=False, show_progress=False)
    if not words:
        return []
    scores = index.get_scores(words)
    best = largest(scores, DEPTH)
    best = best[np.lexsort((best, -scores[best]))][:DEPTH]
    return [at for at in best.tolist() if scores[at] > 0]


def parse(name: str) -> tuple[str, Tuning]:
    """Split `hybrid:k=20:cap=1` or `routed:margin=5:split=30` into a variant and its tuning.

    Raises SettingsError for what does not exist.
    """
    by, *parts = name.split(":")
    check_variant(by)
    tuning = DEFAULT_TUNING
    for part in parts:
        key, _, value = part.partition("=")
        if key not in (*_TURNED, *_SHARES) or not value.isdecimal() or int(value) < 1:
            raise SettingsError(
                f"{part!r} of variant {name!r} cannot be turned: give "
                f"{' or '.join(f'{each}=NUMBER' for each in (*_TURNED, *_SHARES))}, from 1."
            )
        turned = {key: int(value) / 100} if key in _SHARES else {_TURNED[key]: int(value)}
        tuning = replace(tuning, **turned)
    return by, tuning


def open_variants(
    names: Sequence[str], engine: Engine, notes: Callable[[], pa.Table], counter: TokenCounter
) -> list[Variant]:
    """Open variants by name, each once. Raises SettingsError for an unknown one."""
    found: list[Variant] = []
    for name in dict.fromkeys(names):
        if name == BASELINE:
            found.append(Bm25sVariant(notes(), counter))
        else:
            found.append(EngineVariant(engine, name, counter))
    return found


def present_notes(data: Path, build: str) -> pa.Table:
    """Return id and text of a build's present notes, sorted by id."""
    folders = Builds(data).read(build)["folders"].values()
    tables = [NOTES.empty().select(["note_id", "text"])]
    for folder in folders:
        path = data / "store" / folder["artifacts"]["notes"]["files"]["table"]
        table = read_parquet(path, ["note_id", "text", "is_current"])
        tables.append(table.filter(table["is_current"]).select(["note_id", "text"]))
    return pa.concat_tables(tables).sort_by("note_id")
