"""The cases of the leak benchmark: one question, pair or history each, made from a seed. Counts.

A case counts what it saw and what it may not have seen; a crash counts as well, and the next case
goes on.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.leaks_answers import everything_said, graph_of, known, policy_of, searched, walked
from benchmarks.leaks_chance import TENANTS, make_question, make_world, with_others_changed
from benchmarks.leaks_made import MadeBuild, instant, marker
from benchmarks.leaks_oracle import Knowing, Sight, as_seen, connected_facts, knowledge_facts
from benchmarks.leaks_vault import Vault, plain, told_in_time
from benchmarks.leaks_worlds import Asker, Question, World, cut_off
from benchmarks.report import progress
from kb_search.knowledge_graph import KnowledgeGraph

AIMS = (
    "leaks", "misses", "unlike_alone", "interference", "history_differences", "crashes",
)  # fmt: skip
QUESTIONS_OF_MADE = 4
QUESTIONS_OF_REAL = 10  # a real build takes as long as hundreds of made ones
_ALONE = 3  # of so many graphs one is held against a vault of what is in sight alone
_SEARCHED = 5  # of so many pairs one is searched as well

Case = Callable[[random.Random], Counter[str]]


def run_cases(seed: int, kind: str, numbers: Sequence[int]) -> Counter[str]:
    """Run the cases of one kind with these numbers; tell those that show what they may not."""
    totals: Counter[str] = Counter()
    for number in numbers:
        try:
            counts = CASES[kind](random.Random(f"{seed}/{kind}/{number}"))
        except Exception as problem:  # noqa: BLE001 - a crash is a figure, the next one goes on
            progress(f"{kind} {number}: {type(problem).__name__}: {problem}")
            counts = Counter(crashes=1)
        if any(counts[bad] for bad in AIMS):
            progress(f"{kind} {number}: {dict(counts)}")
        totals += counts
    return totals


def graph_case(chance: random.Random) -> Counter[str]:
    """Ask a made vault as some people, of some days, and hold the answers against the oracle."""
    world = make_world(chance)
    build = MadeBuild(world)
    counts: Counter[str] = Counter(vaults=1)
    for _ in range(QUESTIONS_OF_MADE):
        question = make_question(chance, world)
        graph = graph_of(
            build, policy_of(question), world.today, is_rechecked=chance.random() < 0.5
        )
        sight = Sight(world, question.asker, question.day)
        knowing = Knowing(sight)
        expected = connected_facts(knowing, question)
        found = walked(graph, question) | known(graph)
        counts += compared(found, expected | knowledge_facts(knowing))
        counts["leaks"] += foreign_words(world, sight, everything_said(graph))
        counts += _kinds(world, question, expected)
        if chance.randrange(_ALONE) == 0 and sight.readable:
            alone = replace(question, asker=Asker(), day=sight.day)
            said = _whole_answer(as_seen(sight), alone, sight.day, is_searched=False)
            counts["unlike_alone"] += int(_said(graph, question) != said)
    return counts


def real_graph_case(chance: random.Random) -> Counter[str]:
    """Write a vault, build it, and ask it some questions as different people on different days."""
    world = plain(make_world(chance))
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        vault = Vault(Path(scratch), world)
        vault.look(vault.days)
        build = vault.built(world.today)
        for _ in range(QUESTIONS_OF_REAL):
            question = make_question(chance, world)
            graph = graph_of(build, policy_of(question), world.today)
            sight = Sight(world, question.asker, question.day)
            expected = connected_facts(Knowing(sight), question)
            counts += compared(walked(graph, question), expected)
            counts["leaks"] += foreign_words(world, sight, everything_said(graph))
            counts += _kinds(world, question, expected)
    return counts + Counter(real_builds=1, real_graphs=QUESTIONS_OF_REAL)


def pair_case(chance: random.Random) -> Counter[str]:
    """Change what other tenants have; one tenant's answers stay as they are, byte for byte."""
    world = make_world(chance, keeps_access=True)
    tenant = chance.choice(TENANTS)
    asked = make_question(chance, world)
    asker = Asker(frozenset({tenant}), asked.asker.groups or frozenset(), asked.asker.excluded)
    question = replace(asked, asker=asker)
    other = with_others_changed(chance, world, tenant)
    today = max(world.today, other.today)
    is_searched = chance.randrange(_SEARCHED) == 0
    answers = [
        _whole_answer(each, question, today, is_searched=is_searched) for each in (world, other)
    ]
    return Counter(
        pairs=1,
        pairs_searched=int(is_searched),
        pairs_with_an_answer=int("asked back" not in answers[0]),
        interference=int(answers[0] != answers[1]),
    )


def history_case(chance: random.Random) -> Counter[str]:
    """Ask as of a day, with all that came later and without."""
    world = make_world(chance, keeps_access=True)
    asked = make_question(chance, world)
    day = chance.randint(0, world.today)
    question = replace(asked, day=day)
    before = cut_off(world, day)
    if not before.notes:
        return Counter(histories=1)
    is_searched = chance.randrange(_SEARCHED) == 0
    answers = [
        _whole_answer(each, question, day, is_searched=is_searched) for each in (world, before)
    ]
    return Counter(histories=1, history_differences=int(answers[0] != answers[1]))


def real_history_case(chance: random.Random) -> Counter[str]:
    """Build a vault half-way and at the end of its history; ask both as of half-way."""
    world = told_in_time(plain(make_world(chance, keeps_access=True)))
    asked = make_question(chance, world)
    with tempfile.TemporaryDirectory() as scratch:
        vault = Vault(Path(scratch), world)
        half = vault.days[len(vault.days) // 2]
        question = replace(asked, day=half)
        vault.look([day for day in vault.days if day <= half])
        before = vault.built(half)
        vault.look([day for day in vault.days if day > half])
        after = vault.built(world.today)
        graphs = [graph_of(build, policy_of(question), half) for build in (before, after)]
    answers = [_said(graph, question) for graph in graphs]
    different = int(answers[0] != answers[1])
    return Counter(histories=1, real_histories=1, history_differences=different)


def compared(found: set[tuple[object, ...]], expected: set[tuple[object, ...]]) -> Counter[str]:
    """Count the facts of an answer that may not be there, and those it lacks."""
    return Counter(leaks=len(found - expected), misses=len(expected - found))


def foreign_words(world: World, sight: Sight, text: str) -> int:
    """Count the passages out of sight of which a word stands in a text."""
    allowed = {each.piece.key for each in (*sight.readable, *sight.remembered)}
    every = {piece.key for note in world.notes for each in note.editions for piece in each.pieces}
    return sum(marker(key) in text for key in every - allowed)


def _kinds(world: World, question: Question, expected: set[tuple[object, ...]]) -> Counter[str]:
    """Count how many cases have something to find, and something to hide."""
    everything = connected_facts(Knowing(Sight(world, Asker(), None)), question)
    return Counter(
        graphs=1,
        answered=int(("asked back",) not in expected),
        with_documents=int(any(each[0] == "eligible" for each in expected)),
        hiding=int(bool(everything - expected)),
    )


def _whole_answer(world: World, question: Question, today: int, *, is_searched: bool) -> str:
    build = MadeBuild(world)
    text = _said(graph_of(build, policy_of(question), today), question)
    return text + searched(build, question, instant(today)) if is_searched else text


def _said(graph: KnowledgeGraph, question: Question) -> str:
    return f"{sorted(walked(graph, question), key=repr)}\n{everything_said(graph)}"


CASES: dict[str, Case] = {
    "graph": graph_case,
    "real_graph": real_graph_case,
    "pair": pair_case,
    "history": history_case,
    "real_history": real_history_case,
}
