"""What is chosen of all drafts: sound, different, the same for the same seed."""

from hypothesis import given, settings
from hypothesis import strategies as st

from eval_assets.suggestions.drafts import Draft, facts_of
from eval_assets.suggestions.rivals import Rivals
from eval_assets.suggestions.suggest import all_drafts, find, suggest
from tests.suggestion_notes import vault_of

TOPICS = ("Harbour", "Ferry", "Crane", "Anchor", "Rudder", "Beacon", "Lantern", "Compass")


def note(topic: str, at: int) -> str:
    return (
        f"---\ntitle: {topic} plan\nowner: Mara {topic}son\nbudget: £{at}00\n"
        f"date: 2024-0{at}-02\n---\n# {topic} plan\n\n"
        f"The {topic.lower()} budget is £{at}00 a year. The budget is due.\n\n"
        f"## Why was the {topic.lower()} painted green?\n\n"
        f"Because the old {topic.lower()} rusted.\n"
    )


NOTES = {
    f"{'Yard' if at % 2 else 'Sea'}/{topic}.md": note(topic, at)
    for at, topic in enumerate(TOPICS, start=1)
}
VAULT = vault_of(NOTES)


def test_equal_seeds_choose_equal_drafts_and_other_seeds_others():
    first = suggest(VAULT, 8, seed=1)
    assert first == suggest(vault_of(dict(reversed(NOTES.items()))), 8, seed=1)
    assert [d.id for d in first] != [d.id for d in suggest(VAULT, 8, seed=2)]


def test_a_choice_is_spread_over_rules_folders_and_notes():
    chosen = suggest(VAULT, 8, seed=3)
    assert len(chosen) == 8
    notes = [each.note_id for each in chosen]
    assert max(map(notes.count, notes)) <= 2
    assert len({each.rule for each in chosen}) >= 3
    assert {path.split("/")[0] for path in notes} == {"Yard", "Sea"}


def test_notes_share_a_choice_and_none_gives_more_than_two():
    for seed in range(6):
        notes = [each.note_id for each in suggest(VAULT, 8, seed=seed)]
        assert len(set(notes)) >= 7
    assert len(suggest(vault_of({"Sea/Ferry.md": NOTES["Yard/Harbour.md"]}), 10)) == 2


def test_a_folder_limits_the_choice_and_what_is_taken_never_returns():
    inside = suggest(VAULT, 40, folder="Sea")
    assert inside
    assert all(each.note_id.startswith("Sea/") for each in inside)
    taken = {each.id for each in inside}
    assert not taken & {each.id for each in suggest(VAULT, 40, folder="Sea", taken=taken)}


def test_drafts_are_found_again_by_their_ids():
    chosen = suggest(VAULT, 5, seed=9)
    assert {each.id for each in find(VAULT, [each.id for each in chosen])} == {
        each.id for each in chosen
    }
    assert find(VAULT, ["own-0000000000"]) == []


def draft(question: str, quote: str, answer: str, **more) -> Draft:
    return Draft(
        rule=more.pop("rule", "figure"),
        topic="",
        category="single_fact",
        language="en",
        question=question,
        answer=answer,
        facts=facts_of("a.md", [quote]),
        inside=f"According to “A”, {question}",
        is_named=more.pop("is_named", False),
        **more,
    )


def test_a_question_that_another_passage_could_answer_names_its_note_and_grades_the_other():
    quote = "The pier lease runs for nine years."
    notes = {
        "a.md": quote,
        "b.md": "Our pier lease, which runs along the quay, ends after nine years.",
        "c.md": "The pier lease runs long.",
        "d.md": "The long pier. " + "Rain. " * 200 + "The lease runs.",  # not one passage
    }
    found = Rivals(vault_of(notes)).judged(draft("How long runs the pier lease?", quote, "nine"))
    assert found is not None
    assert found.question.startswith("According to “A”")
    assert found.supporting == ("b.md",)
    del notes["b.md"], notes["c.md"]
    alone = Rivals(vault_of(notes)).judged(draft("How long runs the pier lease?", quote, "nine"))
    assert alone is not None
    assert alone.question == "How long runs the pier lease?"


def test_a_quote_that_another_note_repeats_and_a_missing_quote_are_dropped():
    quote = "The pier lease runs for nine years and costs £4,000 in all."
    vault = vault_of({"a.md": quote, "b.md": f"Copied: {quote}"})
    assert Rivals(vault).judged(draft("How long?", quote, "nine years")) is None
    assert Rivals(vault_of({"a.md": "Gone."})).judged(draft("How long?", quote, "nine")) is None


def test_a_question_that_holds_its_answer_is_dropped():
    quote = "The pier lease runs for nine years."
    asked = draft("Does the lease run for nine years?", quote, "nine years")
    assert Rivals(vault_of({"a.md": quote})).judged(asked) is None


def test_a_line_that_links_to_the_note_and_repeats_the_value_is_supporting():
    notes = {
        "Plan.md": "---\ntitle: Pier plan\nstatus: Rejected\n---\nx\n",
        "Log.md": "- 2024-05-02: [[Plan]] moved to Rejected.\n- [[Plan]] again.\n",
        "Other.md": "- [[Plan]] is here.\n\nRejected: something else.\n",
    }
    vault = vault_of(notes)
    (found,) = (each for each in all_drafts(vault) if each.rule == "property")
    judged = Rivals(vault).judged(found)
    assert judged is not None
    assert judged.supporting == ("Log.md",)


LINES = st.sampled_from(
    [
        "# Pier", "## Costs of the pier", "## Why is the pier green?", "---", "owner: Mara Lind",
        "status: open", "- **Deposit:** £400", "- **Power:** 9 kW", "- **Hall:** B2", "", "```",
        "| a | price |", "|---|---|", "| wood | £3 |", "- 2024-05-02: PEP 8 moved to Final.",
        "Because the pier rusted.", "The notice period is 30 days.", "Ana: What size is it?",
        "Bo: The pier is 15 by 20 feet in all.", "[[n0]] replaces [[n1]].",
        "关于码头的预算是多少？",
        "## 2024-05-02", "A pier is a walkway that leads into the sea for boats.", "::", "    x",
    ]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(LINES, max_size=14), min_size=1, max_size=4), st.integers(0, 5))
def test_every_suggestion_of_any_vault_is_a_whole_row_whose_quotes_occur(texts, seed):
    vault = vault_of({f"F{at % 2}/n{at}.md": "\n".join(text) for at, text in enumerate(texts)})
    chosen = suggest(vault, 6, seed=seed)
    assert len({each.id for each in chosen}) == len(chosen)
    for each in chosen:
        row = each.to_question()
        assert row.question.strip()
        assert each.answer
        for fact in row.facts:
            assert fact.quote in vault.by_id[fact.note].folded
