"""What a note's prose states of a name: figures, dates, roles; what was decided; who speaks."""

import pytest

from kb_assets.extractions.extraction import extract
from tests.extracted_notes import ONTOLOGY, claims_in, cut, extracted, parsed, said_in

STATED = [
    ("[[Wren 40]] costs £2,050.", ("note Wren 40", "cost", "£2,050")),
    ("[[Wren 40]] costs about £2,050 a month.", ("note Wren 40", "cost", "about £2,050 a month")),
    ("[[Wren 40]] costs €4.10 a brick and is red.", ("note Wren 40", "cost", "€4.10 a brick")),
    ("The [[Wren 40]] sells for 1,890 euros.", ("note Wren 40", "price", "1,890 euros")),
    ("The price of the [[Wren 40]] is £2,050.", ("note Wren 40", "price", "£2,050")),
    ("[[Wren 40]]'s list price rose to £2,050.", ("note Wren 40", "price", "£2,050")),
    ("[[Wren 40]] weighs 85 kg.", ("note Wren 40", "weight", "85 kg")),
    ("Borel Works has 1.2 million customers.", ("name Borel Works", "customers", "1.2 million")),
    ("Borel Works has 12 employees.", ("name Borel Works", "employees", "12")),
    ("Borel Works serves over 340 schools in Bremen.",
     ("name Borel Works", "schools", "over 340")),
    ("[[Kiln Care]] goes to £24 on 1 May 2025.", ("note Kiln Care", "price", "£24")),
    ("[[Kiln Care]] rises from £19 to £24.", ("note Kiln Care", "price", "£24")),
    ("[[Open days]] started on 7 September 2024.", ("note Open days", "started", "2024-09-07")),
    ("[[Wren 40]] was launched in March 2024.", ("note Wren 40", "released", "2024-03")),
    ("[[Rules]] was accepted by Gwen Mabry on 2 May 2024.",
     ("note Rules", "accepted", "2024-05-02")),
    ("[[Rules]] was accepted by Gwen Mabry, Friday, May 3, 2024.",
     ("note Rules", "accepted", "2024-05-03")),
    ("[[Rules]] was rejected on the 3rd of May, 2024.", ("note Rules", "rejected", "2024-05-03")),
    ("Gwen Mabry is the head of Borel Works.", ("name Gwen Mabry", "role", "head of Borel Works")),
    ("Gwen Mabry, founder of Borel Works, came.",
     ("name Gwen Mabry", "role", "founder of Borel Works")),
    ("Gwen Mabry is our treasurer.", ("name Gwen Mabry", "role", "treasurer")),
    ("- Gwen Mabry, tech lead", ("name Gwen Mabry", "role", "tech lead")),
    ("- [Gwen Mabry](team.md#gwen), Security Engineer",
     ("name Gwen Mabry", "role", "Security Engineer")),
    ("We decided to keep this proposal narrow.", ("self", "decision", "keep this proposal narrow")),
    ("We decided to keep the kiln.", ("self", "decision", "keep the kiln")),
    ("In the end, we decided not to buy the van.", ("self", "decision", "not buy the van")),
    ("The board agreed that Tom moves out, because it is cheap.",
     ("self", "decision", "Tom moves out")),
    ("Decided: the [[Wren 40]] goes up.", ("self", "decision", "the Wren 40 goes up")),
    ("[[Wren 40]]的价格是2000元。", ("note Wren 40", "price", "2000元")),
    ("[[Wren 40]]加热丝每套由 265 元降到 248 元。", ("note Wren 40", "加热丝每套", "248 元")),
    ("[[青砂工房]]有12名员工。", ("note 青砂工房", "员工", "12")),
    ("[[青砂工房]]于2019年3月成立。", ("note 青砂工房", "founded", "2019-03")),
    ("我们决定保留旧窑。", ("self", "decision", "保留旧窑")),
    ("决定：从三月起改用新砖。", ("self", "decision", "从三月起改用新砖")),
]  # fmt: skip
NOTHING = [
    "It costs £2,050.",
    "For example, [[Wren 40]] costs £2,050.",
    "The van of [[Wren 40]] costs £2,050.",
    "[[Wren 40]]'s case costs £2,050.",
    "[[Wren 40]] does not cost £2,050.",
    "[[Wren 40]] never costs £2,050.",
    "[[Wren 40]] costs £2,050-2,100.",
    "[[Wren 40]] costs too much.",
    "Does [[Wren 40]] cost £2,050?",
    "Borel Works has 12 main parts.",
    "Borel Works had 28 shots in the match.",
    "[[Open days]] started on a Monday.",
    "Gwen Mabry is the head teacher.",
    "Gwen Mabry was a founder, and the first one.",
    "So came Mara Lind, Gwen Mabry was founded in 2019.",
    "[[青砂工房]]于2019年3月推出新的网站。",
    "Carly Jones, VP, People & Talent",
    "- Gwen Mabry, who is no manager",
    "- Gwen Mabry, Product Manager and friend of the house",
    "We decided against it because it is dear.",
    "We decided to do this.",
    "We decided to do so with pleasure.",
    "We decided to stop.",
    "We decided to leave this out of the kiln.",
    "We decided not to add those labels.",
    "[[Kiln Care]] goes to £24 in January.",
    "[[Kiln Care]] costs £24 in the 1990s.",
    "Have we decided to keep the kiln?",
    "When we decided to keep the kiln, it rained.",
    "Decision: who carries the kiln?",
    "Resolved: issues that are patched and disclosed.",
    "`[[Wren 40]] costs £2,050.`",
    "[[Wren 40]]的价格不是2000元。",
]


@pytest.mark.parametrize(("text", "claim"), STATED)
def test_a_subject_and_a_value_that_stand_together_are_a_claim(text, claim):
    assert claims_in(f"{text}\n") == [(*claim, "fact")]


@pytest.mark.parametrize("text", NOTHING)
def test_what_leaves_something_to_guess_gives_nothing(text):
    assert claims_in(f"{text}\n") == []


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("[[Wren 40]] will cost £2,050.", "plan"),
        ("[[Wren 40]] would cost £2,050.", "hypothetical"),
        ("Mara said that [[Wren 40]] costs £2,050.", "reported"),
        ("I believe that [[Wren 40]] costs £2,050.", "opinion"),
    ],
)
def test_a_claim_is_meant_as_its_sentence_is(text, modality):
    assert [claim[3] for claim in claims_in(f"{text}\n")] == [modality]


def test_what_became_of_a_note_that_was_only_a_plan_is_a_fact():
    text = "---\nstatus: rejected\n---\nThis proposal was rejected on 2 May 2024. It is over.\n"
    assert ("self", "rejected", "2024-05-02", "fact") in claims_in(text)
    costs = text.replace("was rejected on 2 May 2024", "costs £5")
    assert ("self", "cost", "£5", "plan") in claims_in(costs)


def test_a_claim_quotes_its_sentence_and_has_the_date_it_holds_from():
    text = "Some words. [[Kiln Care]] goes to £24 on\n1 May 2025, as said. More words.\n"
    row = said_in(text)["claim_observations"][0]
    assert row["quote"] == "[[Kiln Care]] goes to £24 on 1 May 2025, as said."
    assert (row["basis"], row["valid_from"]) == ("prose", "2025-05-01")


CHAT = """---
kind: chat
---
**User:** [[Wren 40]] costs £2,050.

**Assistant:** [[Heron 90]] costs £3,400.

Pros: it is good.

[[Petrel 7]] costs £88.

**User:** [[Kiln Care]] costs £24. We decided to keep the kiln.
"""


def test_whatever_an_assistant_says_is_a_suggestion():
    assert {(claim[0], claim[3]) for claim in claims_in(CHAT)} == {
        ("note Wren 40", "fact"), ("note Heron 90", "ai_suggestion"),
        ("note Petrel 7", "ai_suggestion"), ("note Kiln Care", "fact"), ("self", "fact"),
    }  # fmt: skip
    headed = CHAT.replace("**User:** ", "## User\n\n").replace(
        "**Assistant:** ", "## Assistant\n\n"
    )
    assert {(claim[0], claim[3]) for claim in claims_in(headed)} == {
        (claim[0], claim[3]) for claim in claims_in(CHAT)
    }


def test_in_a_chat_without_speakers_an_assistant_may_have_said_it():
    assert claims_in("---\nkind: chat\n---\n[[Wren 40]] costs £2,050.\n") == [
        ("note Wren 40", "cost", "£2,050", "ai_suggestion")
    ]


def test_decisions_under_dated_headings_are_left_out_and_counted():
    text = "# Log\n\n## 2024-05-02\n\nWe decided to keep the kiln.\n"
    found = extracted({"Log.md": text})
    assert found.tables["claim_observations"].num_rows == 0
    assert found.counts["prose_dated_decisions"] == 1


def test_what_is_denied_or_too_long_is_counted():
    long = f"[[Wren 40]] costs £2,050 {'and so on ' * 80}."
    found = extracted({"N.md": f"[[Wren 40]] never costs £2,050 there.\n\nIt is not so that "
                               f"[[Wren 40]] costs £2,050.\n\n{long}\n"})  # fmt: skip
    assert (found.counts["prose_denied"], found.counts["prose_long"]) == (1, 1)


def test_a_type_that_a_home_has_taken_away_is_not_said():
    links = {name: entry for name, entry in ONTOLOGY.links.items() if name != "USES"}
    tables = parsed({"N.md": "[[A1]] uses [[B2]]. [[A1]] depends on [[B2]].\n"})
    poorer = ONTOLOGY.__class__(**{**_fields(ONTOLOGY), "links": links})
    found = extract(tables.notes, tables.note_links_raw, cut(tables), poorer)
    types = found.tables["link_observations"]["type"].to_pylist()
    assert types == ["DEPENDS_ON"]


def _fields(ontology):
    return {name: getattr(ontology, name) for name in ontology.__dataclass_fields__}
