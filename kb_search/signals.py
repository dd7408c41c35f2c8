"""How well the passages found fit a question: by its words, by nearness, by what it asks for.

Pure but for what the view reads from its files.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kb_core.text import keyword_tokens
from kb_search.hybrid import QueryVector, RankedNote
from kb_search.question import FUNCTION_WORDS
from kb_search.view import View

_DECIMALS = 9
_LOOKED_AT = 10  # notes whose passages tell how well the question is covered
# Only as the first words: further inside, "what" asks for something of what was asked before.
# A form of "do", "be" or "have" has to follow: in "what happened" no kind of thing is named.
_KIND_ASKED = re.compile(
    r"(?:what|which|welche[rsmn]?)\s+([^\W\d_]{4,40})\s+"
    r"(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|must|may|might"
    r"|ist|sind|war|waren|hat|haben|hatte|hatten|wird|wurde|wurden|kann|soll|muss)\b",
    re.I,
)


@dataclass(frozen=True)
class Signals:
    """How well the passages found fit the question."""

    covered: float  # share of the weight of the question's words that one passage holds
    similarity: float | None  # the best cosine; None without vectors
    absent: str = ""  # the kind of thing asked for, where no note has the word


NO_SIGNALS = Signals(1.0, None)


class SignalReader:
    """The signals of one view."""

    def __init__(self, view: View) -> None:
        self._view = view

    def of(
        self,
        question: str,
        terms: Sequence[str],
        base: Sequence[RankedNote],
        vector: QueryVector | None,
        weights: Mapping[str, float],
    ) -> Signals:
        """Return the signals of one question; `weights` are its terms' in the view."""
        kind = kind_asked_for(question)
        is_absent = bool(kind) and not self._view.keyword.weights(sorted(kind))
        held = self._held(terms, base)
        return Signals(
            covered(weights, terms, held), _nearest(base, vector), kind[0] if is_absent else ""
        )

    def _held(self, terms: Sequence[str], base: Sequence[RankedNote]) -> list[set[str]]:
        """Return which terms each of the best passages holds."""
        chunks = [chunk for note in base[:_LOOKED_AT] for chunk in note.chunks]
        docs = [self._first_docs[id(c.folder)] + int(c.folder.rows.docs[c.row]) for c in chunks]
        holds = self._view.keyword.holds(terms, docs)
        return [{term for term, is_held in zip(terms, column, strict=True) if is_held}
                for column in holds.T.tolist()]  # fmt: skip

    @cached_property
    def _first_docs(self) -> dict[int, int]:
        """Where each folder's texts begin among the view's."""
        sizes = [folder.rows.doc_count for folder in self._view.folders]
        starts = np.cumsum([0, *sizes]).tolist()
        return {id(each): at for each, at in zip(self._view.folders, starts[:-1], strict=True)}


def _nearest(base: Sequence[RankedNote], vector: QueryVector | None) -> float | None:
    """Return the cosine of the nearest passage among those ranked; None without vectors.

    The first of the vectors' own ranking is among the first notes of every fused one, so nothing
    has to be scanned again.
    """
    by_rank = [
        (chunk.vector_rank, at, chunk)
        for at, chunk in enumerate(chunk for note in base for chunk in note.chunks)
        if chunk.vector_rank is not None
    ]
    if vector is None or not by_rank:
        return None
    chunk = min(by_rank)[2]
    starts, doc = chunk.folder.vectors.starts, int(chunk.folder.rows.docs[chunk.row])
    passages = np.arange(starts[doc], starts[doc + 1])
    near = chunk.folder.vectors.exact(passages, vector.values.astype(np.float64))
    return round(float(near.max()), _DECIMALS)


def kind_asked_for(question: str) -> tuple[str, ...]:
    """Return the word behind "what" or "which" and its other number; none where there is none.

    >>> kind_asked_for("What salary does she get?"), kind_asked_for("What does she get?")
    (('salary', 'salarys', 'salaries'), ())
    """
    found = _KIND_ASKED.match(question.strip())
    terms = keyword_tokens(found[1]) if found else []
    if len(terms) != 1 or terms[0] in FUNCTION_WORDS or not terms[0].isalpha():
        return ()
    word = terms[0]
    others = [f"{word}s", f"{word[:-1]}ies"] if not word.endswith("s") else [word[:-1]]
    return (word, *others)


def covered(weights: Mapping[str, float], terms: Sequence[str], held: Sequence[set[str]]) -> float:
    """Return the share of the question's weight that the best of some passages holds.

    A word that nothing holds weighs as much as the rarest one that something does.
    """
    rarest = max(weights.values(), default=1.0)
    total = sum(weights.get(term, rarest) for term in terms)
    best = max((sum(weights.get(term, 0.0) for term in found) for found in held), default=0.0)
    return best / total if total else 1.0
