"""What a note's prose links: names with a cue between them, in English and Chinese."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.hostile_sets import load_sets
from kb_assets.extractions.extraction import _notes
from kb_assets.extractions.observations import Said
from kb_assets.extractions.prose import read_prose
from kb_core.prose_cues import prose_cues
from kb_knowledge.records import RULES, STRUCTURE
from tests.extracted_notes import (
    ONTOLOGY,
    SMALL,
    cut,
    extracted,
    links_in,
    parsed,
    said_in,
    shown,
)

FACTS = [
    ("The press depends on the [[Air line]].", None),
    ("[[Kiln 2]] depends on [[Sub-board]].", ("note Kiln 2", "DEPENDS_ON", "note Sub-board")),
    ("[[Kiln 2]] is required by [[Bay]].", ("note Bay", "DEPENDS_ON", "note Kiln 2")),
    ("Then came Foam. Foam is built on top of Vanta Code.",
     ("name Foam", "DEPENDS_ON", "name Vanta Code")),
    ("[[Kiln 2]] was then required by [[Bay]].", ("note Bay", "DEPENDS_ON", "note Kiln 2")),
    ("[[Old]] was replaced by [[New]].", ("note Old", "SUPERSEDED_BY", "note New")),
    ("[[New]] replaces the [[Old]].", ("note Old", "SUPERSEDED_BY", "note New")),
    ("Callum Irvine works for Acme Ltd.", ("name Callum Irvine", "WORKS_FOR", "name Acme Ltd")),
    ("Acme Ltd hired Mira Sandoz.", ("name Mira Sandoz", "WORKS_FOR", "name Acme Ltd")),
    ("Mira Sandoz reports to Ines Hale.", ("name Mira Sandoz", "REPORTS_TO", "name Ines Hale")),
    ("I saw Acme. Acme is a customer of Borel Works.",
     ("name Acme", "CLIENT_OF", "name Borel Works")),
    ("The GCC compilers and so on. GCC uses the MPFR library for it.",
     ("name GCC", "USES", "name MPFR")),
    ("I saw Acme. Acme invested in Borel Works.",
     ("name Acme", "INVESTED_IN", "name Borel Works")),
    ("Gwen Mabry, who wrote [[Rules]].", ("note Rules", "AUTHORED_BY", "name Gwen Mabry")),
    ("Theo Raad, the author of NetShell, came.",
     ("name NetShell", "AUTHORED_BY", "name Theo Raad")),
    ("The Content Desk team maintains [[Site]].",
     ("note Site", "OWNED_BY", "name Content Desk team")),
    ("The lot went to Mara Lind. Mara Lind works for the New Harbour Bank.",
     ("name Mara Lind", "WORKS_FOR", "name New Harbour Bank")),
    ("[[Rules]] was written by Edgar M. Lind.",
     ("note Rules", "AUTHORED_BY", "name Edgar M. Lind")),
    ("Borel Works is based in Port Ellen.", ("name Borel Works", "LOCATED_IN", "name Port Ellen")),
    ("[[Fire]] led to [[Recall]].", ("note Fire", "LED_TO", "note Recall")),
    ("[[Recall]] was caused by [[Fire]].", ("note Fire", "LED_TO", "note Recall")),
    ("[[Rules]] describes [[Bricks]].", ("note Rules", "COVERS", "note Bricks")),
    ("[[Petrel]]依赖[[Heron]]。", ("note Petrel", "DEPENDS_ON", "note Heron")),
    ("[[Petrel]]已被[[Heron]]取代。", ("note Petrel", "SUPERSEDED_BY", "note Heron")),
    ("[[Heron]]取代了[[Petrel]]。", ("note Petrel", "SUPERSEDED_BY", "note Heron")),
    ("《青砂工房》位于《常滑》。", ("name 青砂工房", "LOCATED_IN", "name 常滑")),
    ("[[何文静]]由[[白俊浩]]介绍。", ("note 白俊浩", "INTRODUCED", "note 何文静")),
]  # fmt: skip
NOTHING = [
    "The head of Acme Ltd works for Borel Works.",  # the head does, not the company
    "Callum Irvine works for Acme Ltd customers.",
    "So came Mara Lind, Ines Hale, Mira Sandoz works for [[B plan]].",
    "The TLS is provided by [[B plan]].",  # of what?
    '[[A plan]] replaces Creative Suite "Manager" tools.',
    "[[A plan]] is sponsored by Friends for Clay.",
    "Callum Irvine describes Mira Sandoz.",
    "[the harbour plan](b.md) is based on [[B plan]].",
    "[[A plan]] uses [[A plan]].",
    "```\n\nCallum Irvine works for Acme Ltd.\n\n```",
    "<!-- Why?\n\nCallum Irvine works for Acme Ltd.\n\n-->",
    "So it is.    Callum Irvine works for Acme Ltd.",
    "Livegrep is maintained by a Stripe developer.",
    "[[A plan]] depends on [[B plan]]'s roof.",
    "[[A plan]]'s roof depends on [[B plan]].",
    "[[Old]] replaced [[New]] with [[Newer]].",
    "[[A plan]] does not depend on [[B plan]].",
    "It is not so that [[A plan]] depends on [[B plan]].",
    "[[A plan]] never used [[B plan]].",
    "Does it hold that [[A plan]] depends on [[B plan]]?",
    "[[A plan]] can use [[B plan]].",
    "It depends on [[B plan]].",
    "Bricks use Cement.",  # capitals that any sentence has; cement is no name: the cement is dear.
    "[[A plan]] depends on `code` of [[B plan]].",
    "```\nCallum Irvine works for Acme Ltd.\n```",
    "<!-- Why?\nCallum Irvine works for Acme Ltd. -->",
    "- 2024-05-02: [[A plan]] depends on [[B plan]].",
    "# [[A plan]] depends on [[B plan]]",
    "> [[A plan]] depends on [[B plan]].",
    "```\n[[A plan]] depends on [[B plan]].\n```",
    "<!-- [[A plan]] depends on [[B plan]]. -->",
    "%% [[A plan]] depends on [[B plan]]. %%",
    "| [[A plan]] depends on [[B plan]]. |",
    "- [ ] [[A plan]] depends on [[B plan]].",
    "- 2024-05-02 [[A plan]] depends on [[B plan]].",
    "Reason: [[A plan]] depends on [[B plan]].",
    "so we saw:: [[A plan]] depends on [[B plan]].",
    "Words:\n\n    Callum Irvine works for Acme Ltd.",
    "> So it is. Callum Irvine works for Acme Ltd.",
    "| So it is. Callum Irvine works for Acme Ltd. |",
    "Word\n    [[A plan]] depends on [[B plan]].",
    "[[A plan]]不依赖[[B plan]]。",
    "[[A plan]]依赖[[B plan]]吗？",
    "[[A plan]]的屋顶依赖[[B plan]]。",
    "[[A plan]]依赖[[B plan]]的屋顶。",
    "[[アオイ]]は[[カイ]]を使用しています。",
    "Die Bay depends nicht. [[Bay]] gehört zu [[Haus]].",
]
MEANT = [
    ("[[A plan]] will replace [[B plan]].", "plan"),
    ("[[A plan]] plans to use [[B plan]].", "plan"),
    ("If it rains, [[A plan]] depends on [[B plan]].", "hypothetical"),
    ("[[A plan]] depends on [[B plan]] if it rains.", "hypothetical"),
    ("[[A plan]] would depend on [[B plan]].", "hypothetical"),
    ("I think that [[A plan]] depends on [[B plan]].", "opinion"),
    ("According to our report, [[A plan]] depends on [[B plan]].", "reported"),
    ("ChatGPT said that [[A plan]] depends on [[B plan]].", "ai_suggestion"),
    ("In May, [[A plan]] was replaced by [[B plan]].", "fact"),
    ("[[A plan]] depends on [[B plan]], which may be dear.", "fact"),
    ("[[A plan]]将取代[[B plan]]。", "plan"),
    ("如果下雨，[[A plan]]依赖[[B plan]]。", "hypothetical"),
    ("据报道，[[A plan]]取代了[[B plan]]。", "reported"),
    ("我认为，[[A plan]]依赖[[B plan]]。", "opinion"),
]
CEMENT = "\n\nThe cement is dear.\n"


@pytest.mark.parametrize(("text", "link"), FACTS)
def test_a_name_a_cue_and_a_name_are_a_link(text, link):
    assert links_in(f"{text}\n") == ([(*link, "fact")] if link else [])


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_less_than_a_statement_about_the_name_gives_nothing(text):
    assert links_in(f"{text}{CEMENT}") == []


@pytest.mark.parametrize(("text", "modality"), MEANT)
def test_a_link_is_meant_as_its_sentence_is(text, modality):
    assert [link[3] for link in links_in(f"{text}\n")] == [modality]


def test_a_link_has_its_cue_its_words_as_they_stand_and_its_readers_name():
    text = "So then the **[[Kiln 2|second kiln]]** was\n  replaced by [[Kiln 3]] in March 2024.\n"
    row = said_in(text)["link_observations"][0]
    assert row["phrase"] == "[[Kiln 2|second kiln]]** was replaced by [[Kiln 3]]"
    assert (row["label"], row["extractor"], row["valid_from"]) == ("replaced_by", RULES, "2024-03")
    assert row["target"] == "Kiln 3"
    mentions = said_in(text)["mentions"]
    assert {(shown(each, "subject"), each["name"], each["basis"]) for each in mentions} == {
        ("note Kiln 2", "second kiln", "value"), ("note Kiln 3", "Kiln 3", "value"),
    }  # fmt: skip


def test_a_date_behind_a_comma_is_the_day_it_holds_from():
    text = "[[Rules]] was accepted by Gwen Mabry, Friday, May 3, 2024.\n"
    assert said_in(text)["link_observations"][0]["valid_from"] == "2024-05-03"


def test_the_words_of_a_link_into_the_web_may_hold_a_name():
    text = "This proposal is based on [Kiln 9: the next](https://kiln.example/9).\n"
    row = said_in(text)["link_observations"][0]
    assert (row["target"], row["phrase"]) == ("Kiln 9", "This proposal is based on [Kiln 9")


def test_a_list_behind_a_cue_gives_a_link_each_if_the_clause_ends_with_it():
    assert [each[2] for each in links_in("[[A1]] uses [[B2]], [[C3]] and [[D4]].\n")] == [
        "note B2", "note C3", "note D4",
    ]  # fmt: skip
    assert [each[2] for each in links_in("[[A1]] uses Sodium and Flame Sensors.\n")] == [
        "name Flame Sensors"
    ]
    assert [each[2] for each in links_in("[[A1]] uses [[B2]] and [[C3]] gave it up.\n")] == [
        "note B2"
    ]


def test_the_note_speaks_of_itself_by_its_title_and_as_this_proposal():
    text = "---\ntitle: Kiln rules\n---\nKiln rules replaces [[Old rules]].\n"
    assert links_in(text) == [("note Old rules", "SUPERSEDED_BY", "self", "fact")]
    assert links_in("This proposal builds on [[Old rules]].\n") == [
        ("self", "DEPENDS_ON", "note Old rules", "fact")
    ]


def test_half_a_title_is_the_note_only_if_it_has_a_number():
    text = "---\ntitle: {}\n---\n{} replaces [[Old rules]].\n"
    assert links_in(text.format("PEP 8 – Style", "PEP 8"))[0][2] == "self"
    assert links_in(text.format("Mara Lind: the film", "Mara Lind"))[0][2] == "name Mara Lind"


def test_what_a_note_that_is_only_a_plan_says_of_itself_is_a_plan():
    text = "---\nstatus: draft\n---\nThis proposal builds on [[Old rules]]. [[A1]] uses [[B2]].\n"
    assert [link[3] for link in links_in(text)] == ["plan", "fact"]
    for words, modality in (
        ("was rejected by Ines Hale", "fact"),
        ("was replaced by [[New rules]]", "fact"),
        ("competes with [[Old rules]]", "fact"),
        ("replaces [[Old rules]]", "plan"),
    ):
        text = f"---\nstatus: rejected\n---\nThis proposal {words}.\n"
        assert [link[3] for link in links_in(text)] == [modality]


def test_a_lone_word_at_the_start_of_a_sentence_is_a_name_only_if_it_is_one_elsewhere():
    assert links_in("Mira works for [[Acme]].\n") == []
    assert links_in("Mira works for [[Acme]]. Then we saw Mira.\n")[0][0] == "name Mira"
    assert links_in("Bricks use [[Acme]]. Then we saw Bricks, the bricks.\n") == []


def test_a_link_into_a_part_of_another_note_is_not_that_note():
    text = "[Dan Adler](team/index.md#dan-adler) works for [[Acme]].\n"
    assert links_in(text)[0][0] == "name Dan Adler"
    assert links_in("[Dan Adler](team/dan.md) works for [[Acme]].\n")[0][0] == "note team/dan.md"


def test_what_stands_in_two_chunks_is_said_once():
    text = "# Plan\n\n" + "Words come first. " * 60 + "\n\n[[A1]] uses [[B2]].\n\n" + "More. " * 400
    rows = said_in(f"{text}\n\n## Next\n\n{'So. ' * 900}")["link_observations"]
    assert len(rows) == 1


def test_a_sentence_that_two_chunks_share_is_left_out_and_counted():
    text = f"[[A1]] uses [[B2]] for {'all the work of the day and ' * 12}more.\n"
    found = extracted({"N.md": text}, limits=SMALL)
    assert found.tables["link_observations"].num_rows == 0
    assert found.counts["prose_cut"] == 1


def test_only_the_chunks_asked_for_are_read_and_others_speak_on_under_their_own_name():
    text = "# Kiln\n\n## One\n\n[[A1]] uses [[B2]].\n\n## Two\n\n[[C3]] uses [[D4]].\n"
    tables = parsed({"N.md": text})
    (note,) = _notes(tables.notes, tables.note_links_raw, cut(tables, SMALL))
    said = Said(note)
    last = len(note.pieces) - 1
    read_prose(said, note, [last], ONTOLOGY)
    assert [row["source"] for row in said.rows("link_observations")] == ["C3"]
    assert last > 0
    assert said.extractor == STRUCTURE


def test_every_cue_is_of_a_type_of_the_ontology():
    for language in ("en", "zh"):
        for cues in prose_cues(language).links.values():
            assert {cue.type for cue in cues} <= set(ONTOLOGY.links)


PARTS = """
    [[A1]] [[B2|be]] Acme Ltd depends on the uses replaced by , was not will if
    《青砂》 依赖 被 取代 。
    . `code` ** ( ) [x](y.md) ![[p]] [ ]] £5 costs 2024-05-02 # > - | : :: ; \x00 é 𝒳
"""
WORDS = st.sampled_from([*PARTS.split(), "```\n", "\n\n", "\n    "])


def test_what_others_wrote_to_break_readers_is_read():
    for text in (recipe.text(2_000) for recipe in load_sets().recipes[::4]):
        said_in(f"[[A1]] uses {text}. [[B2]] costs £5{text}\n")


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=40).map(" ".join))
def test_any_text_is_read_and_every_quote_stands_in_it(text):
    rows = said_in(f"{text}\n")
    folded = " ".join(text.split())
    for row in rows["link_observations"]:
        if row["extractor"] == RULES:
            assert row["phrase"] in folded
            assert row["source"] != row["target"] or row["source_kind"] != row["target_kind"]
    for row in rows["claim_observations"]:
        if row["extractor"] == RULES:
            assert row["quote"] in folded


@settings(max_examples=8, deadline=None)
@given(st.permutations([each[0] for each in FACTS]))
def test_the_order_of_paragraphs_changes_no_link(texts):
    found = links_in("\n\n".join(texts) + "\n")
    assert set(found) == {(*each[1], "fact") for each in FACTS if each[1]}
