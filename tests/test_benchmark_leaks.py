"""The leak benchmark: its oracle knows the rules, its worlds are fair, and it would see a leak."""

import random
from dataclasses import replace

import pytest

from benchmarks import leaks_cases as leaks
from benchmarks.leaks_answers import everything_said, graph_of, policy_of, walked
from benchmarks.leaks_chance import make_question, make_world, with_others_changed
from benchmarks.leaks_made import MadeBuild, marker
from benchmarks.leaks_oracle import Knowing, Sight, connected_facts
from benchmarks.leaks_worlds import (
    ITSELF,
    NOTE,
    Asker,
    Edition,
    Note,
    Piece,
    Question,
    SaidLink,
    World,
    cut_off,
)

RED = Asker(frozenset({"red"}), frozenset())
ALL_CASES = ("graph", "pair", "history")


def note(name, kind, tenant="red", hour=0, readers=(), **links):
    said = [
        SaidLink(type_, ITSELF, (NOTE, target))
        for type_, targets in links.items()
        for target in targets
    ]
    piece = Piece(f"{name}#0", hour, None, False, False, tuple(said), (), ())
    edition = Edition(1, hour, None, hour, tenant, readers, name, (), kind, "", (piece,))
    return Note(f"Yard/{name}.md", (edition,))


MAINTENANCE = World(
    (
        note("D1", "Document", hour=2),
        note("D2", "Document", hour=8),
        note("D3", "Document", "blue", hour=1),
        note("P7", "Asset", DEPENDS_ON=("S1", "X"), HAS_MANUAL=("D1",)),
        note("S1", "Asset", HAS_MANUAL=("D2",)),
        note("X", "Asset", "blue", HAS_MANUAL=("D3",)),
    )
)


def ask(start="P7", depth=2, day=6, asker=RED):
    return Question(start, ("DEPENDS_ON",), depth, ("Asset",), ("HAS_MANUAL",), asker, day)


def oracle(world, question):
    sight = Sight(world, question.asker, question.day)
    return connected_facts(Knowing(sight), question)


def real(world, question):
    return walked(graph_of(MadeBuild(world), policy_of(question), world.today), question)


def documents(facts):
    return sorted(fact[1].removeprefix("Yard/") for fact in facts if fact[0] == "eligible")


@pytest.mark.parametrize(
    ("question", "found"),
    [
        (ask(), ["D1.md"]),
        (ask(depth=0), ["D1.md"]),
        (ask(day=9), ["D1.md", "D2.md"]),
        (ask(day=9, depth=0), ["D1.md"]),
        (ask(day=9, asker=Asker()), ["D1.md", "D2.md", "D3.md"]),
        (ask(day=1), []),
    ],
)
def test_the_maintenance_example_comes_out_as_it_was_told(question, found):
    assert documents(oracle(MAINTENANCE, question)) == found
    assert real(MAINTENANCE, question) == oracle(MAINTENANCE, question)


@pytest.mark.parametrize("start", ["X", "D3", "P8"])
def test_a_forbidden_start_is_asked_back_like_one_that_does_not_exist(start):
    assert oracle(MAINTENANCE, ask(start)) == {("asked back",)}
    assert real(MAINTENANCE, ask(start)) == {("asked back",)}


def test_a_note_closed_and_then_deleted_stays_closed_for_the_time_before():
    (first,) = MAINTENANCE.notes[0].editions
    closed = replace(first, number=2, observed=4, until=5, tenant="blue")
    ended = replace(first, until=4)
    world = World((Note("Yard/D1.md", (ended, closed)), *MAINTENANCE.notes[1:]))

    assert documents(oracle(world, ask(day=3))) == []
    assert documents(oracle(world, ask(day=3, depth=0, asker=Asker()))) == ["D1.md"]
    assert real(world, ask(day=3)) == oracle(world, ask(day=3))


def test_an_answer_under_a_wider_policy_is_counted_as_leaks():
    wide, narrow = ask(day=9, asker=Asker()), ask(day=6)
    counts = leaks.compared(real(MAINTENANCE, wide), oracle(MAINTENANCE, narrow))

    assert counts["leaks"] == 5  # D2 and D3, attached and eligible, and X itself
    assert counts["misses"] == 1  # D2 before it is there: a name in S1 that no note has
    assert leaks.compared(set(), oracle(MAINTENANCE, narrow))["misses"] == 5


def test_words_of_a_passage_out_of_sight_are_counted():
    sight = Sight(MAINTENANCE, RED, 6)
    text = everything_said(graph_of(MadeBuild(MAINTENANCE), policy_of(ask()), 9))

    assert leaks.foreign_words(MAINTENANCE, sight, text) == 0
    assert leaks.foreign_words(MAINTENANCE, sight, text + marker("D2#0")) == 1


@pytest.mark.parametrize("seed", range(40))
def test_changing_other_tenants_leaves_a_tenant_s_own_notes_alone(seed):
    chance = random.Random(seed)
    world = make_world(chance, keeps_access=True)
    changed = with_others_changed(chance, world, "red")

    def of_red(each):
        return [note for note in each.notes if note.editions[-1].tenant == "red"]

    assert of_red(changed) == of_red(world)
    assert changed != world


@pytest.mark.parametrize("seed", range(40))
def test_a_history_cut_off_on_a_day_shows_the_oracle_the_same_as_of_that_day(seed):
    chance = random.Random(seed)
    world = make_world(chance, keeps_access=True)
    day = chance.randint(0, world.today)
    question = replace(make_question(chance, world), day=day)
    before = cut_off(world, day)

    if before.notes:
        assert oracle(before, question) == oracle(world, question)


@pytest.mark.parametrize("kind", ALL_CASES)
def test_a_hundred_random_cases_show_nothing_they_may_not(kind):
    counts = leaks.run_cases(1, kind, list(range(100)))

    assert {bad: counts[bad] for bad in leaks.AIMS} == dict.fromkeys(leaks.AIMS, 0)


def test_a_vault_written_as_markdown_and_built_answers_as_its_world_does():
    counts = leaks.run_cases(1, "real_graph", [0])

    assert counts["real_graphs"] == leaks.QUESTIONS_OF_REAL
    assert {bad: counts[bad] for bad in leaks.AIMS} == dict.fromkeys(leaks.AIMS, 0)
