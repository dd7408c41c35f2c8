"""Measures of what an answerer reads: the first tokens of a context, and what they hold. Pure.

A ranking that finds every note may still put the sentence that answers beyond the budget. So each
variant's passages are read to the same number of tokens, whatever they are made of, and judged by
what stands in them. Deterministic as long as the token counter is.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from eval_assets.metrics import Group
from eval_assets.questions import Fact

BUDGET_TOKENS = 8_000

CountTokens = Callable[[str], int]


@dataclass(frozen=True)
class Passage:
    """A text that an answerer is given, the note it comes from and its size in tokens."""

    note: str
    text: str
    tokens: int


def reading_measures(
    passages: Sequence[Passage],
    essential: Sequence[Group],
    facts: Sequence[Fact],
    count_tokens: CountTokens,
    budget: int = BUDGET_TOKENS,
) -> dict[str, float]:
    """Read passages, best first, within a budget of tokens and return what that gives.

    `note_recall@8k` and `precision@8k`, and `fact_recall@8k` where the question has facts; the
    names say the budget. Raises ValueError for a question without anything essential.
    """
    read = read_within(passages, budget, count_tokens)
    values = {"note_recall": note_recall(read, essential), "precision": precision(read, essential)}
    if facts:
        values["fact_recall"] = fact_recall(read, facts)
    size = f"{budget // 1_000}k" if budget % 1_000 == 0 else str(budget)
    return {f"{name}@{size}": value for name, value in values.items()}


def read_within(
    passages: Iterable[Passage], budget: int, count_tokens: CountTokens
) -> list[Passage]:
    """Return what is read of the passages: whole ones in order until the budget is spent.

    The passage that crosses the budget is cut where it does, and nothing after it is read, however
    small: an answerer reads from the top. Together the tokens never exceed the budget.
    """
    read: list[Passage] = []
    room = budget
    for passage in passages:
        if passage.tokens > room:
            return read + _cut(passage, room, count_tokens)
        read.append(passage)
        room -= passage.tokens
    return read


def fact_recall(read: Iterable[Passage], facts: Sequence[Fact]) -> float:
    """Return the share of facts whose exact quote stands in a passage of the fact's own note.

    Runs of white space count as one blank. A quote that only two passages together hold is not
    found: what lies between them is not known to the reader. Raises ValueError without facts.
    """
    if not facts:
        raise ValueError("a question without facts has no fact recall")
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for passage in read:
        texts[passage.note].append(_folded(passage.text))
    found = sum(_is_held(_folded(fact.quote), texts[fact.note]) for fact in facts)
    return found / len(facts)


def note_recall(read: Iterable[Passage], essential: Sequence[Group]) -> float:
    """Return the share of groups of which at least one note was read, if only in part.

    Raises ValueError without anything essential.
    """
    if not essential:
        raise ValueError("a question without essential notes has no recall")
    notes = {passage.note for passage in read}
    return sum(not group.isdisjoint(notes) for group in essential) / len(essential)


def precision(read: Sequence[Passage], essential: Sequence[Group]) -> float:
    """Return the share of the tokens read that come from essential notes; 0.0 of nothing."""
    gold = frozenset().union(*essential)
    total = sum(passage.tokens for passage in read)
    return sum(passage.tokens for passage in read if passage.note in gold) / total if total else 0.0


def _cut(passage: Passage, room: int, count_tokens: CountTokens) -> list[Passage]:
    """Return the passage's longest beginning that fits, found by halving; none if none does.

    A subword counter may count a longer beginning as fewer tokens here and there. The halving then
    ends at one of the places where the budget is crossed, the same one every time.
    """
    fits, too_long = 0, len(passage.text) + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if count_tokens(passage.text[:middle]) <= room:
            fits = middle
        else:
            too_long = middle
    text = passage.text[:fits]
    tokens = count_tokens(text)
    return [Passage(passage.note, text, tokens)] if tokens else []


def _is_held(quote: str, texts: Sequence[str]) -> bool:
    # A blank quote would stand in every text.
    return bool(quote) and any(quote in text for text in texts)


def _folded(text: str) -> str:
    return " ".join(text.split())
