"""English statements that become questions, and those that must not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.suggestions.definitions import define
from eval_assets.suggestions.past_tense import when_did
from eval_assets.suggestions.statements import ask
from tests.suggestion_notes import vault_of

NAMES = frozenset({"Quernstow", "Marit", "Slack", "PEP"})


def is_common(word: str) -> bool:
    return word not in NAMES


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        ("The notice period is 30 days.", "What is the notice period?", "30 days"),
        ("Our agency fee is 20%.", "What is our agency fee?", "20%"),
        ("The pier budget is £400 a year.", "What is the pier budget?", "£400 a year"),
        (
            "Members have at least 30 days to object.",
            "How many days do members have to object?",
            "at least 30 days",
        ),
        (
            "The stand may draw 9 kilowatts in Saltmere.",
            "How many kilowatts may the stand draw in Saltmere?",
            "9 kilowatts",
        ),
        (
            "Zoom recordings are deleted automatically after 30 days.",
            "After how many days are zoom recordings deleted automatically?",
            "30 days",
        ),
        (
            "Training must be completed within two weeks of being assigned.",
            "Within how many weeks of being assigned must training be completed?",
            "two weeks",
        ),
        (
            "There are two types of grants.",
            "How many types of grants are there?",
            "two types",
        ),
        (
            "There are 5 kilns in the yard.",
            "How many kilns are there in the yard?",
            "5 kilns",
        ),
        ("A spare licence costs £40.", "How much does a spare licence cost?", "£40"),
        (
            "The workshop lease was signed in March 2024.",
            "When was the workshop lease signed?",
            "in March 2024",
        ),
        (
            "The second bid was refused because it came a week late.",
            "Why was the second bid refused?",
            "because it came a week late",
        ),
        (
            "The yearly budget is approved by the board.",
            "Who is the yearly budget approved by?",
            "the board",
        ),
    ],
)
def test_a_statement_becomes_the_question_it_answers(sentence, question, answer):
    asked = ask(sentence, is_common)
    assert asked is not None
    assert (asked.question, asked.answer) == (question, answer)


@pytest.mark.parametrize(
    "sentence",
    [
        "This is 30 days for everybody here.",  # points back
        "It was refused because it came too late.",
        "What we pay is 40 pounds in all.",
        "The result is 30 days of waiting.",  # says nothing alone
        "If they object the period is 30 days.",  # a clause before it
        "The fee that people call the price is £40 in all.",
        "Password must contain 12 characters.",  # note style
        "The workshop is 190 square metres.",  # no measure
        "Step 4 must be done within 24 hours.",
        "Dashboards were broken because we did not look.",  # which ones?
        "The two repairs cost £300 in all.",  # now or then?
    ],
)
def test_a_statement_that_is_not_understood_alone_is_refused(sentence):
    asked = ask(sentence, is_common)
    assert asked is None


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("A runbook is a note that tells what to do at an alarm.", "What is a runbook?"),
        ("Slack is the messaging app we use to reach people.", "What is Slack?"),
        ("Marit Oslund is the founder of the kiln works in Saltmere.", "Who is Marit Oslund?"),
    ],
)
def test_a_definition_is_asked_for(sentence, question):
    found = define(sentence, is_common)
    assert found is not None
    assert found[0] == question


@pytest.mark.parametrize(
    "sentence",
    [
        "Slack is a great way to reach people who work elsewhere.",  # praise
        "Releases are the responsibility of the guild that cuts them.",
        "Demos are one of the best parts of the day that ends it.",
        "The goal is a workshop that has room for everybody.",
        "This is the messaging app we use to reach people.",
        "Search is the part of the product that finds things.",  # no article
        "A runbook is short.",
        "Slack is a tool with three parts that are listed here:",
    ],
)
def test_what_defines_nothing_is_not_asked_for(sentence):
    assert define(sentence, is_common) is None


WORDS = "They can move on, then enter and move. We promote her and promote him. "
LOG = vault_of({"a.md": WORDS + "We carry it and carry more."})


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("PEP 204 (Ranges) moved from Draft to Final.", "When did PEP 204 (Ranges) move from Draft "
         "to Final?"),
        ("The ferry carried 310 passengers.", "When did the ferry carry 310 passengers?"),
        ("The lease was signed.", "When was the lease signed?"),
        ("PEP 204 promoted to Final.", None),  # was promoted
        ("The ferry scrimped 310 passengers.", None),  # no such base form in the vault
        ("Added tests and moved two files.", None),
        ("It moved to Unit 5.", None),
        ("The ferry moved to Unit 5 in 2024.", None),  # says when itself
    ],
)  # fmt: skip
def test_a_dated_line_asks_when_only_if_its_verb_is_certain(sentence, question):
    assert when_did(sentence, LOG) == question


@given(st.text(alphabet="The ferrycost is are 30 days£,.because within ", max_size=90))
def test_no_text_makes_the_rules_fail(text):
    asked = ask("The " + text, is_common)
    assert asked is None or asked.question.endswith("?")
    define("A " + text, is_common)
    when_did("The " + text, LOG)
