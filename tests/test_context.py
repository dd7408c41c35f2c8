"""What an answerer reads: lines, then chunks, within the budget, each with its role."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_core.tokens import RegexTokenCounter
from kb_search.context import CARD_LIMITS, assemble, line_text
from kb_search.graph_layer import KeptLine
from kb_search.hybrid import RankedChunk, RankedNote
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.note_roles import CURRENT, FRAME, NEIGHBOUR, SUPERSEDED, SUPPORT
from tests.made_knowledge import Made, path

COUNT = RegexTokenCounter().count


class Shelf:
    """Stands for a folder: what is shown of its rows."""

    def __init__(self, rows):
        self._rows = rows

    def shown(self, row):
        return self._rows[row]


def ranked(*texts, kind="note", tokens=None):
    """Return one note a text, in order; a text is `title|text`."""
    found = []
    for each in texts:
        title, _, text = each.partition("|")
        row = {
            "note_id": path(title), "chunk_id": f"chunk of {title}", "title": title, "text": text,
            "written_date": "2024-01-01", "kind": kind, "tokens": tokens or COUNT(text),
        }  # fmt: skip
        chunk = RankedChunk(Shelf([row]), 0, 1.0, 1, None)
        found.append(RankedNote(path(title), 1.0, (chunk,)))
    return found


def lines(*claims, made=None):
    """Return kept lines of claims: note, value, state."""
    made = made or Made()
    for note, value, state in claims:
        made.claim(made.note(note), "budget", value, state=state, quote=f"budget: {value}")
    graph = KnowledgeGraph(made.knowledge())
    every = [graph.line(at) for at in range(graph.line_count)]
    return [KeptLine(line, 0.5, 0, True, line.claim.state != "current", False) for line in every]


def shown(context):
    return [(each.id, each.role, each.note) for each in context.items]


def test_lines_come_first_and_both_have_ids_to_cite():
    context = assemble(ranked("Pier|stone"), lines(("Crane", "5,000", "current")), COUNT)
    assert shown(context) == [("L1", CURRENT, "Crane.md"), ("P1", SUPPORT, "Pier.md")]


def test_a_line_that_a_chunk_of_its_note_says_is_left_out():
    kept = lines(("Pier", "5,000", "current"))
    context = assemble(ranked("Pier|The\nbudget:  5,000 this year"), kept, COUNT)
    assert shown(context) == [("P1", CURRENT, "Pier.md")]
    assert context.repeated == 1


def test_the_same_words_in_another_note_repeat_nothing():
    kept = lines(("Pier", "5,000", "current"))
    assert assemble(ranked("Crane|budget: 5,000"), kept, COUNT).repeated == 0


def test_a_superseded_line_stays_because_it_says_that_it_is():
    kept = lines(("Pier", "4,000", "superseded"))
    context = assemble(ranked("Pier|budget: 4,000"), kept, COUNT)
    assert [each.role for each in context.items] == [SUPERSEDED, SUPERSEDED]
    assert "superseded" in context.items[0].text


def test_a_current_note_goes_before_the_one_it_superseded():
    kept = lines(("Old", "4,000", "superseded"), ("New", "5,000", "current"))
    context = assemble(ranked("Old|a", "Other|b", "New|c"), kept, COUNT)
    notes = [each.note for each in context.items if each.id.startswith("P")]
    assert notes == ["New.md", "Other.md", "Old.md"]


def test_a_current_note_is_not_pushed_out_of_a_small_budget():
    kept = lines(("Old", "4,000", "superseded"), ("New", "5,000", "current"))
    context = assemble(ranked("Old|a", "New|c", tokens=50), kept, COUNT, budget=60, line_share=0)
    assert [each.note for each in context.items] == ["New.md"]


def test_lines_take_no_more_than_their_share_and_give_back_what_they_leave():
    many = lines(*((f"Pier Number {at}", f"{at},000", "current") for at in range(40)))
    chunks = ranked(*(f"Note Number {at}|text" for at in range(40)), tokens=20)
    context = assemble(chunks, many, COUNT, budget=400)
    spent = sum(each.tokens for each in context.items if each.id.startswith("L"))
    assert 0 < spent <= 160
    without = assemble(chunks, [], COUNT, budget=400)
    assert sum(each.tokens for each in without.items) == 400


def test_what_has_no_room_is_counted():
    context = assemble(ranked("Pier|a", "Crane|b", tokens=50), [], COUNT, budget=60)
    assert (len(context.items), context.over_budget) == (1, 1)


def test_no_source_gives_more_than_its_cap():
    note = ranked("Pier|a")[0]
    several = RankedNote(note.note_id, 1.0, note.chunks * 3)
    assert len(assemble([several], [], COUNT, per_source=2).items) == 2


def test_a_vault_of_cards_has_a_frame_support_and_neighbours():
    books = ranked(*(f"Book {at}|b" for at in range(5)), kind="section")
    cards = ranked(*(f"Card {at}|c" for at in range(30)), kind="card")
    context = assemble([*cards, *books], [], COUNT)
    roles = [each.role for each in context.items]
    assert [roles.count(each) for each in (FRAME, SUPPORT, NEIGHBOUR)] == [
        CARD_LIMITS[FRAME], CARD_LIMITS[SUPPORT], CARD_LIMITS[NEIGHBOUR]
    ]  # fmt: skip
    assert roles == sorted(roles, key=[FRAME, SUPPORT, NEIGHBOUR].index)


def test_a_line_says_when_it_was_written_and_what_it_rests_on():
    made = Made()
    made.claim(
        made.note("Pier"),
        "budget",
        "5,000",
        date="2024-02-01",
        modality="plan",
        quote="so much: 5,000",
    )
    (kept,) = lines(made=made)
    assert line_text(kept) == "Pier budget: 5,000 (written 2024-02-01; plan) “so much: 5,000”"


@given(
    st.lists(st.integers(1, 300), max_size=20),
    st.integers(0, 20),
    st.integers(0, 2000),
    st.sampled_from([0.0, 0.2, 0.4, 1.0]),
)
def test_the_budget_is_never_exceeded(sizes, claims, budget, share):
    chunks = [each for at, size in enumerate(sizes) for each in ranked(f"N{at}|x", tokens=size)]
    kept = lines(*((f"Pier Number {at}", f"{at}", "current") for at in range(claims)))
    context = assemble(chunks, kept, COUNT, budget=budget, line_share=share)
    assert context.tokens == sum(each.tokens for each in context.items) <= budget
    spent = sum(each.tokens for each in context.items if each.id.startswith("L"))
    assert spent <= budget * share
    assert assemble(chunks, kept, COUNT, budget=budget, line_share=share) == context


@pytest.mark.parametrize("kind", ["note", "chat"])
def test_notes_have_no_frame(kind):
    context = assemble(ranked("Pier|a", kind=kind), [], COUNT)
    assert [each.role for each in context.items] == [SUPPORT]
