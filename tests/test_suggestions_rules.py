"""What each rule drafts from a small note, and what it leaves alone."""

import pytest

from eval_assets.suggestions.drafts import Draft
from eval_assets.suggestions.suggest import all_drafts, suggest
from eval_assets.suggestions.templates import languages, templates
from tests.suggestion_notes import vault_of


def drafts(notes: dict[str, str], rule: str, language: str = "en") -> list[Draft]:
    return [each for each in all_drafts(vault_of(notes, language)) if each.rule == rule]


def asked(notes: dict[str, str], rule: str, language: str = "en") -> dict[str, str]:
    return {each.question: each.answer for each in drafts(notes, rule, language)}


PLAN = """---
title: Harbour plan
owner: "[[Mara Lind]]"
status: draft
reviewed by: Ines Calloway
tags: [plan]
minimum: 40 piers a year
---
# Harbour plan

The minimum is high.
"""


def test_properties_are_asked_by_what_they_are_about():
    assert asked({"Harbour plan.md": PLAN}, "property") == {
        "Who is the owner of “Harbour plan”?": "Mara Lind",
        "What is the status of “Harbour plan”?": "draft",
        "Who is “Harbour plan” reviewed by?": "Ines Calloway",
        "What is the minimum given in “Harbour plan”?": "40 piers a year",
    }


def test_a_header_block_below_the_title_is_asked_like_front_matter():
    text = (
        "# PEP 9 - Sample\n\nPEP: 9\nTitle: Sample\nAuthor: Mara Lind,\n        Bo Frost\n"
        "BDFL-Delegate: Ana Ruiz\nCreated: 02-May-2024\nResolution: https://a.example/1\n\nText.\n"
    )
    found = drafts({"pep-0009.md": text}, "property")
    assert {each.question: each.answer for each in found} == {
        "Who wrote “PEP 9 - Sample”?": "Mara Lind, Bo Frost",
        "Who is the BDFL delegate of “PEP 9 - Sample”?": "Ana Ruiz",
        "When was “PEP 9 - Sample” created?": "02-May-2024",
    }
    assert found[0].facts[0].quote == "Author: Mara Lind, Bo Frost"


def test_a_property_with_two_values_and_one_that_most_notes_share_are_not_asked():
    notes = {
        f"n{at}.md": f"---\ntitle: Note number {at}\nstatus: open\n---\nx\n" for at in range(9)
    }
    notes["two.md"] = "---\ntitle: Two owners\nowner: Mara Lind\n---\nowner:: Bo Frost\n"
    assert asked(notes, "property") == {}


def test_labelled_values_of_a_record_are_asked_with_their_heading():
    text = (
        "# Fair guide\n\nWe pay the deposit.\n\n## Stand\n\n- **Deposit:** £400\n"
        "- **Power:** 9 kW\n"
        "- **Hall:** B2\n\nThe power is shared. The hall of the fair is old.\n"
    )
    assert asked({"Fair guide.md": text}, "label") == {
        "What does “Fair guide” give as “Deposit” under “Stand”?": "£400",
        "What does “Fair guide” give as “Power” under “Stand”?": "9 kW",
        "What does “Fair guide” give as “Hall” under “Stand”?": "B2",
    }


def test_a_remark_that_begins_with_a_word_and_a_colon_is_no_labelled_value():
    text = "# Fair guide\n\nThe deposit is due.\n\n## Stand\n\n- Deposit: £400\n- We came\n"
    assert asked({"Fair guide.md": text}, "label") == {}
    assert asked({"Fair guide.md": text.replace("- We came\n", "")}, "label") == {}


TABLE = """# Kiln prices

| model | price | colour |
|-------|------:|--------|
| Wren 40 | £2,150 | red |
| Heron 90 | £3,790 | blue |
"""


def test_a_cell_is_asked_by_its_row_and_column_and_quoted_with_its_row():
    found = drafts({"Kiln prices.md": TABLE}, "table")
    assert {each.question: each.answer for each in found} == {
        "In “Kiln prices”, what is the price for “Wren 40”?": "£2,150",
        "In “Kiln prices”, what is the price for “Heron 90”?": "£3,790",
    }
    assert found[0].facts[0].quote == "Wren 40 | £2,150"


def test_rows_that_are_days_have_a_newest_one():
    text = (
        "# Members\n\n| day | paying |\n|---|---|\n| 2024-06-13 | 74 |\n| 2025-09-11 | 214 |\n"
        "| 2025-06-12 | 187 |\n"
    )
    found = drafts({"Members.md": text}, "newest_row")
    assert [(each.question, each.answer, each.category) for each in found] == [
        ("In “Members”, what is the latest entry under “paying”?", "214", "temporal")
    ]


def test_a_heading_that_asks_is_asked_if_what_follows_answers():
    text = (
        "# Payments\n\n## Can customers pay in euros?\n\nNo, customers pay in pounds.\n\n"
        "## When will the invoices be sent?\n\n"
        "See the calendar of the harbour office for when they will be sent.\n\n"
        "## Do customers pay in advance?\n\nCustomers come from the south to pay us.\n\n"
        "## And this one?\n\nYes, and this one is fine for customers too.\n"
    )
    assert asked({"Payments.md": text}, "asked") == {
        "Can customers pay in euros?": "No, customers pay in pounds."
    }


def test_an_answer_that_withholds_or_sends_away_is_no_answer():
    for said in (
        "We do not share this number of invoices with customers outside.",
        "Please see the finance page for the number of the invoices.",
        "How many invoices do you think there are in a year of work?",
    ):
        text = f"# Payments\n\n## How many invoices are sent in a year?\n\n{said}\n"
        assert asked({"Payments.md": text}, "asked") == {}
    said = "In a usual year about ninety invoices are sent."
    text = f"# Payments\n\n## How many invoices are sent in a year?\n\n{said}\n"
    assert list(asked({"Payments.md": text}, "asked").values()) == [said]


def test_a_title_that_asks_is_not_named_again():
    text = "# How to change an element\n\nTo change it, turn the mains off and wait an hour.\n"
    (found,) = suggest(vault_of({"Element.md": text}), 5)
    assert found.question == "How do you change an element?"


def test_a_heading_that_teaches_is_asked_with_its_first_steps():
    text = (
        "# Kiln care\n\n## How to change an element\n\n1. Turn the mains off and wait an hour.\n"
        "2. Open the back panel with the long key.\n3. Take the old element out by hand.\n"
        "4. Smile.\n"
    )
    found = drafts({"Kiln care.md": text}, "how_to")
    assert [each.question for each in found] == ["How do you change an element?"]
    assert [fact.quote for fact in found[0].facts] == [
        "Turn the mains off and wait an hour.",
        "Open the back panel with the long key.",
        "Take the old element out by hand.",
    ]


def test_an_entry_under_a_day_is_asked_whole_and_a_dated_line_by_its_event():
    log = (
        "# Yard log\n\n## 2024-05-02\n\nThe ferry Aurora carried 310 passengers to the island.\n\n"
        "## 2024-07-09\n\nBoth cranes were painted green, which took the whole week.\n"
    )
    assert list(asked({"Yard log.md": log}, "entry")) == [
        "What does “Yard log” record for 2 May 2024?",
        "What does “Yard log” record for 9 July 2024?",
    ]
    lines = "# Yard lines\n\n- 2024-05-02: PEP 8 moved to Final.\n\nWe move on, they move on.\n"
    assert asked({"Yard lines.md": lines}, "event") == {
        "When did PEP 8 move to Final?": "on 2 May 2024"
    }


def minutes(month: int, customers: int) -> str:
    return (
        f"---\ntitle: Board minutes 2025-0{month}-12\ndate: 2025-0{month}-12\n---\n"
        f"customers:: {customers}\n"
    )


SERIES = {
    "Board/0.md": minutes(1, 214),  # says what the newest says
    "Board/a.md": minutes(3, 154),
    "Board/b.md": minutes(6, 187),
    "Board/c.md": minutes(9, 214),
    "Board/d.md": "---\ntitle: Board minutes 2025-12-12\ndate: 2025-12-12\n---\nNo figures.\n",
    "Board/e.md": "The customers are many.\n",
}


def test_a_series_asks_for_its_newest_value_and_older_notes_distract():
    (found,) = drafts(SERIES, "series")
    assert found.question == "How many customers does the newest “Board minutes” give?"
    assert (found.answer, found.essential) == ("214", ("Board/c.md",))
    assert found.distractors == ("Board/a.md", "Board/b.md")


LINKED = {
    "Old.md": '---\ntitle: Old prices\ndate: 2024-01-02\nsuperseded by: "[[New]]"\n---\n[[New]]\n',
    "New.md": "---\ntitle: New prices\ndate: 2025-03-04\nowner: Petra Moore\n---\nx\n",
}


def test_a_property_that_names_a_note_needs_both_notes():
    (found,) = drafts(LINKED, "linked")
    assert found.question == "Who is the owner of the note that “Old prices” names under " + (
        "“superseded by”?"
    )
    assert found.answer == "Petra Moore"
    assert found.essential == ("Old.md", "New.md")


def test_two_linked_notes_are_compared_by_a_date_that_both_give():
    later = {**LINKED, "New.md": LINKED["New.md"].replace("2025-03-04", "2023-03-04")}
    assert [each.answer for each in drafts(later, "older")] == ["“New prices”"]
    (found,) = drafts(LINKED, "older")
    assert found.question == "Which has the earlier date: “Old prices” or “New prices”?"
    assert (found.answer, found.essential) == ("“Old prices”", ("Old.md", "New.md"))


def test_a_number_that_notes_carry_as_their_id_leads_like_a_link():
    notes = {
        f"pep-{at}.md": (
            f"# PEP {at} - Thing {at}\n\nPEP: {at}\nAuthor: Mara L{'abcdefgh'[at]}nd\n"
            f"Created: 0{at}-May-2024\n" + ("Replaces: 3\n" if at == 5 else "") + "\nText.\n"
        )
        for at in range(1, 7)
    }
    questions = asked(notes, "linked")
    who = "Who wrote the note that “PEP 5 - Thing 5” names under “Replaces”?"
    assert questions[who] == "Mara Ldnd"


TALK = (
    "Ana: Hi Bo!\nBo: Hi! What size is the basement where the cooler will stand?\n"
    "Ana: The basement is about 15 by 20 feet, so most coolers will fit there.\nBo: Good.\n"
    "Ana: See you.\n"
)


def test_a_question_in_a_dated_talk_is_asked_if_the_next_turn_answers():
    assert asked({"talks/2024-05-02 Cooler.md": TALK}, "talk") == {
        "What did Ana answer when Bo asked on 2 May 2024: “What size is the basement where the "
        "cooler will stand?”": "The basement is about 15 by 20 feet, so most coolers will fit "
        "there."
    }
    assert asked({"talks/Cooler.md": TALK}, "talk") == {}


def test_a_talk_with_a_machine_is_no_evidence():
    machine = TALK.replace("Ana:", "Assistant:").replace("Bo:", "User:")
    assert asked({"2024-05-02 Cooler.md": machine}, "talk") == {}


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("de", "Welchen Stand hat „Hafenplan“?"),
        ("es", "¿Cuál es el estado de «Hafenplan»?"),
        ("fr", "Quel est le statut de « Hafenplan » ?"),
        ("zh", "《Hafenplan》的状态是什么？"),
        ("ja", "「Hafenplan」の状態は何ですか？"),
    ],
)
def test_a_note_is_asked_in_its_own_language(language, question):
    note = {"Hafenplan.md": "---\nstatus: offen\n---\nText.\n"}
    (found,) = drafts(note, "property", language)
    assert (found.question, found.language) == (question, language)


@pytest.mark.parametrize("language", sorted(languages().values()))
def test_every_language_words_the_kinds_that_need_no_grammar(language):
    wording = templates(language)
    filled = dict.fromkeys(("name", "key", "heading", "column", "row", "date", "series"), "X")
    for kind in ("value", "given", "given_under", "cell_quoted", "about", "entry", "newest_label"):
        assert wording.word(kind, **filled)
    assert wording.date("2024-03-14")
    assert wording.concept("author", name="X")


@pytest.mark.parametrize(
    ("language", "sentence", "question"),
    [
        ("de", "Ein Brennkegel ist ein kleiner Körper, der im Ofen die Hitze anzeigt.",
         "Was ist „Brennkegel“?"),
        ("es", "El cono es un testigo pequeño que muestra el calor del horno.", "¿Qué es «cono»?"),
        ("zh", "离散化是一种把数据按大小顺序换成序号的处理技巧。", "什么是离散化？"),
        ("ja", "素焼きとは、釉薬を掛ける前に低い温度で一度焼くことです。", "素焼きとは何ですか？"),
    ],
)  # fmt: skip
def test_definitions_are_asked_in_other_languages(language, sentence, question):
    notes = {"Begriffe.md": f"# Glossar\n\n## Eins\n\n{sentence}\n"}
    assert question in asked(notes, "definition", language)


def test_two_notes_of_one_title_are_told_apart_or_not_asked():
    front = "---\ntitle: Weekly agenda\nowner: {}\n{}---\nx\n"
    notes = {
        "A/1.md": front.format("Mara Lind", "date: 2024-05-02\n"),
        "A/2.md": front.format("Bo Frost", "date: 2024-05-09\n"),
        "B/3.md": front.format("Ana Ruiz", ""),
        "C/4.md": front.format("Tom Ash", ""),
        "C/5.md": front.format("Tim Elm", ""),
    }
    assert asked(notes, "property") == {
        "Who is the owner of “Weekly agenda” of 2 May 2024?": "Mara Lind",
        "Who is the owner of “Weekly agenda” of 9 May 2024?": "Bo Frost",
        "Who is the owner of “Weekly agenda” (in B)?": "Ana Ruiz",
    }


def test_forms_to_fill_in_are_not_asked():
    notes = {
        "Templates/Project.md": "---\ntitle: Project form\nowner: Mara Lind\n---\nx\n",
        "Form.md": "---\ntitle: Other form\nowner: Mara Lind\ndate: {{date}}\n---\nx\n",
    }
    assert suggest(vault_of(notes), 10) == []
