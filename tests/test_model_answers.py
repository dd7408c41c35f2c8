"""What is believed of a language model's answer: what the chunk bears out, and nothing else."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.answer_text import LONGEST_ANSWER, UnusableAnswerError, read_answer
from kb_assets.extractions.model_answers import MOST_ITEMS
from kb_knowledge.records import NOTE, SELF, STRUCTURE, Reference
from tests.extracted_notes import SMALL
from tests.heard_answers import (
    KILN,
    answer_of,
    claim,
    hear,
    is_quoted,
    link,
    mention,
    note_of,
)

GAS = "Gas now comes from Bolt Ltd"
COST = "Bolt Ltd, 240 EUR a month"
BOLT = link("Kiln", "Bolt Ltd", GAS)
PRICE = claim("Kiln", "gas cost", "240 EUR a month", COST)


def dropped(text=KILN, **items):
    """Return why the one item of an answer does not stand."""
    heard = hear(answer_of(**{name: [item] for name, item in items.items()}), text=text)
    assert not any(key.startswith("accepted") for key in heard.counts), heard.counts
    assert not any(heard.rows.values())
    ((reason, times),) = heard.counts.items()
    assert times == 1
    return reason


# What stands -----------------------------------------------------------------------------------


def test_what_the_chunk_says_is_believed_in_the_models_name():
    heard = hear(answer_of([mention("Bolt Ltd", aliases=[])], [BOLT], [PRICE]))
    assert heard.names == [("name Bolt Ltd", "Organization", "Bolt Ltd")]
    assert heard.links == [("self", "SUPPLIED_BY", "name Bolt Ltd", "fact")]
    assert heard.claims == [("self", "gas_cost", "240 EUR a month", "fact")]
    row = heard.rows["claim_observations"][0]
    assert (row["quote"], row["basis"], row["extractor"]) == (COST, "prose", "some-model")
    row = heard.rows["link_observations"][0]
    assert (row["phrase"], row["label"]) == (GAS, "supplied_by")
    assert heard.counts == {"accepted_mentions": 1, "accepted_links": 1, "accepted_claims": 1}


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("Kiln", "self"),
        ("kiln", "self"),
        ("The shed", "note Works/Shed"),
        ("Shed", "note Works/Shed"),
        ("Works/Shed", "note Works/Shed"),
        ("Bolt Ltd", "name Bolt Ltd"),
    ],
)
def test_a_name_is_the_note_itself_or_what_a_link_leads_to_or_a_name(name, reference):
    assert hear(answer_of([mention(name)])).names[0][0] == reference


def test_an_alias_of_the_note_is_the_note():
    text = "---\naliases: [Furnace Nine]\n---\n# Kiln\n\nFurnace Nine runs on gas.\n"
    assert hear(answer_of([mention("Furnace Nine")]), text=text).names[0][0] == "self"


def test_other_names_stand_beside_a_mention_under_the_same_reference():
    text = "# Kiln\n\nBolt Limited (Bolt, BL) brings it; he is big.\n"
    heard = hear(answer_of([mention("Bolt Limited", aliases=["Bolt", "he", "Bolt AG"])]), text=text)
    assert heard.names == [
        ("name Bolt Limited", "Organization", "Bolt Limited"),
        ("name Bolt Limited", "Organization", "Bolt"),
    ]
    assert heard.reasons == {"aliases_dropped": 2}


def test_what_a_link_names_is_mentioned_once():
    heard = hear(answer_of([], [BOLT], [claim("Bolt Ltd", "price", "240 EUR", COST)]))
    assert heard.names == [("name Bolt Ltd", "", "Bolt Ltd")]


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("a b", "# N\n\na\n  b now 5\n"),
        ("“Gas” isn't", '# N\n\n"Gas" isn’t dear\n'),
        ("caf\u00e9 opens", "# N\n\ncafe\u0301 opens\n"),
        ("soft\u200bware works", "# N\n\nsoftware works\n"),
        ("天然气价格", "# N\n\n天然气价格每月上涨。\n"),
    ],
)
def test_a_quote_is_found_whatever_its_blanks_and_typographic_marks(quote, text):
    heard = hear(answer_of(claims=[claim("Kiln", "note", "so", quote)]), text=text)
    assert heard.reasons == {"name_not_in_chunk": 1}  # the quote was found, the entity was not


def test_a_name_may_stand_in_the_breadcrumb_and_so_may_a_quote():
    text = (
        "# Kiln\n\n" + "Nothing much here. " * 20 + "\n\n## Bolt Ltd prices\n\nGas costs 3 EUR.\n"
    )
    _, chunks = note_of(text, limits=SMALL)
    piece = next(at for at, each in enumerate(chunks) if "3 EUR" in each["text"])
    heard = hear(
        answer_of([], [], [claim("Kiln", "price", "3 EUR", "Gas costs 3 EUR")]),
        text=text,
        piece=piece,
        limits=SMALL,
    )
    assert heard.claims == [("self", "price", "3 EUR", "fact")]


def test_attributes_are_folded_and_canonical():
    claims = [
        claim("Kiln", name, "240 EUR", COST) for name in ("List Price", "Preis", "monthly-cost")
    ]
    assert {row[1] for row in hear(answer_of(claims=claims)).claims} == {"price", "monthly_cost"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2024", "2024"),
        ("2024-05", "2024-05"),
        ("2024-05-02", "2024-05-02"),
        ("2 May 2024", "2024-05-02"),
        ("", None),
        ("2025-13-45", None),
        ("9999-12-31", None),
        ("last spring", None),
    ],
)
def test_a_date_is_kept_as_precise_as_it_is_or_dropped(given, kept):
    heard = hear(answer_of(claims=[claim("Kiln", "cost", "240 EUR", COST, valid=(given, given))]))
    row = heard.rows["claim_observations"][0]
    assert (row["valid_from"], row["valid_to"]) == (kept, kept)
    assert heard.reasons == ({} if kept or not given else {"dates_dropped": 2})


def test_figures_may_be_written_without_their_thousands():
    text = "# Kiln\n\nIt cost £1,400 in all.\n"
    claims = [claim("Kiln", "cost", "£1400", "It cost £1,400 in all")]
    assert hear(answer_of(claims=claims), text=text).claims[0][2] == "£1400"


# What does not ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (mention("Volt Ltd"), "name_not_in_chunk"),
        (mention("olt Ltd"), "name_not_in_chunk"),
        (mention("Bolt Ltd", "Corporation"), "unknown_type"),
        (mention("Bolt Ltd", ""), "unknown_type"),
        (mention("Bolt Ltd", ["Person"]), "unknown_type"),
        (mention(""), "empty"),
        (mention(" \u200b\n"), "empty"),
        (mention(None), "wrong_fields"),
        (mention(["Bolt Ltd"]), "wrong_fields"),
        (mention(True), "wrong_fields"),
        (mention("Bo\ud800lt Ltd"), "wrong_fields"),
        (mention("Bo\x00lt Ltd"), "name_not_in_chunk"),
        (mention("Bolt\nLtd x"), "name_not_in_chunk"),
        (mention("B" * 121), "too_long"),
        (mention("gas"), "no_name"),
        (mention("month"), "no_name"),
        (mention("it"), "no_name"),
        (mention("240 EUR a month. The shed holds it"), "name_not_in_chunk"),
        ({**mention("Bolt Ltd"), "aliases": "Bolt"}, "wrong_fields"),
        ({**mention("Bolt Ltd"), "aliases": [1]}, "wrong_fields"),
        ({**mention("Bolt Ltd"), "description": "x"}, "wrong_fields"),
        ({"name": "Bolt Ltd", "type": "Person"}, "wrong_fields"),
        ("Bolt Ltd", "wrong_fields"),
        (None, "wrong_fields"),
        ([], "wrong_fields"),
    ],
)
def test_a_mention_that_does_not_stand_is_dropped_with_its_reason(item, reason):
    assert dropped(mentions=item) == reason


@pytest.mark.parametrize(
    "name",
    ["He", "THEY", "the team", "Our Client", "Person", "Meetings", "The Reader", "Customers",
     "2024-05-02", "May 2024", "12",
     "www.bolt.com", "https://bolt.com/a", "ana@bolt.com", "./notes", "<b>Bolt</b>", "[[Bolt]]",
     "one two three four five six seven eight Nine"],
)  # fmt: skip
def test_what_names_nothing_is_no_name_even_where_it_stands(name):
    assert (
        dropped(text=f"# Kiln\n\nHere is\n{name}\nand more.\n", mentions=mention(name)) == "no_name"
    )


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (link("Kiln", "Bolt Ltd", "Bolt Ltd brings the gas"), "quote_not_in_chunk"),
        (link("Kiln", "Bolt Ltd", "gas now comes from Bolt Ltd"), "quote_not_in_chunk"),
        (link("Kiln", "Bolt Ltd", "as now comes"), "quote_not_in_chunk"),
        (link("Kiln", "Bolt Ltd", "."), "quote_not_in_chunk"),
        (link("Kiln", "Nobody Ltd", GAS), "name_not_in_chunk"),
        (link("Nobody Ltd", "Kiln", GAS), "name_not_in_chunk"),
        (link("Kiln", "kiln", GAS), "same_ends"),
        (link("The shed", "Shed", GAS), "same_ends"),
        (link("Kiln", "Bolt Ltd", GAS, "OWNS`]->() DELETE n //"), "unknown_type"),
        (link("Kiln", "Bolt Ltd", GAS, "supplied_by"), "unknown_type"),
        (link("Kiln", "Bolt Ltd", GAS, modality="sure"), "unknown_modality"),
        (link("Kiln", "Bolt Ltd", GAS, modality=None), "unknown_modality"),
        ({**BOLT, "n": 1}, "wrong_fields"),
    ],
)
def test_a_link_that_does_not_stand_is_dropped_with_its_reason(item, reason):
    assert dropped(links=item) == reason


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (claim("Kiln", "cost", "260 EUR", "Bolt Ltd, 260 EUR a month"), "quote_not_in_chunk"),
        (claim("Kiln", "cost", "40 EUR", "40 EUR a month"), "quote_not_in_chunk"),
        (claim("Kiln", "cost", "9,999 EUR", COST), "value_not_in_quote"),
        (claim("Kiln", "cost", "24 EUR", COST), "value_not_in_quote"),
        (claim("Nobody Ltd", "cost", "240 EUR", COST), "name_not_in_chunk"),
        (claim("month", "cost", "240 EUR", COST), "no_name"),
        (claim("Kiln", "", "240 EUR", COST), "empty"),
        (claim("Kiln", "<img src=x>", "240 EUR", COST), "bad_attribute"),
        (claim("Kiln", "https://x.org", "240 EUR", COST), "bad_attribute"),
        (claim("Kiln", "c" * 61, "240 EUR", COST), "too_long"),
        (claim("Kiln", "cost", "", COST), "empty"),
        (claim("Kiln", "cost", True, COST), "wrong_fields"),
        (claim("Kiln", "cost", 240, COST), "wrong_fields"),
        (claim("Kiln", "cost", "x" * 201, COST), "too_long"),
        (claim("Kiln", "cost", "240 EUR", COST, "true"), "unknown_modality"),
        (claim("Kiln", "cost", "240 EUR", COST, valid=(None, "")), "wrong_fields"),
        (claim("Kiln", "request", "240 EUR", COST), "mechanics"),
    ],
)
def test_a_claim_that_does_not_stand_is_dropped_with_its_reason(item, reason):
    assert dropped(claims=item) == reason


def test_a_figure_is_not_quoted_out_of_another():
    text = "# Kiln\n\nIt cost 1,400 EUR and 2.5 kg.\n"
    for quote in ("400 EUR", "5 kg", "1,4", "cost 1"):
        assert dropped(text=text, claims=claim("Kiln", "cost", "so", quote)) == "quote_not_in_chunk"


def test_a_question_states_nothing():
    text = "# Kiln\n\nDoes gas cost 240 EUR a month? Oil costs 90 EUR.\n"
    assert (
        dropped(text=text, claims=claim("Kiln", "cost", "240 EUR", "gas cost 240 EUR a month"))
        == "question"
    )
    heard = hear(answer_of(claims=[claim("Kiln", "oil", "90 EUR", "Oil costs 90 EUR")]), text=text)
    assert heard.claims == [("self", "oil", "90 EUR", "fact")]


@pytest.mark.parametrize(
    ("text", "ends", "kind", "evidence"),
    [
        ("Tony Blunt asked Ana Roth for 3 offers.", ("Tony Blunt", "Ana Roth"), "RELATED_TO",
         "Tony Blunt asked Ana Roth"),
        ("ChatGPT generated Plan Nine for Ana Roth.", ("ChatGPT", "Plan Nine"), "AUTHORED_BY",
         "ChatGPT generated Plan Nine"),
        ("The assistant knows Ana Roth.", ("The assistant", "Ana Roth"), "KNOWS",
         "assistant knows Ana Roth"),
        ("助手回答了《山海经》", ("助手", "山海经"), "RELATED_TO", "助手回答了《山海经》"),
    ],
)  # fmt: skip
def test_the_mechanics_of_conversations_are_no_links(text, ends, kind, evidence):
    item = link(*ends, evidence, kind)
    assert dropped(text=f"# Log\n\n{text}\n", links=item) == "mechanics"


@pytest.mark.parametrize(
    ("text", "ends", "kind"),
    [
        ("Ana Roth introduced Tony Blunt.", ("Ana Roth", "Tony Blunt"), "INTRODUCED"),
        ("Ana Roth shares a shop with Tony Blunt, who asked for it.",
         ("Ana Roth", "Tony Blunt"), "RELATED_TO"),
        ("Plan Nine uses ChatGPT.", ("Plan Nine", "ChatGPT"), "USES"),
        ("Ana Roth reports to Tony Blunt, who asked for it.",
         ("Ana Roth", "Tony Blunt"), "REPORTS_TO"),
    ],
)  # fmt: skip
def test_links_between_the_same_names_stand(text, ends, kind):
    heard = hear(answer_of(links=[link(*ends, text, kind)]), text=f"# Log\n\n{text}\n")
    assert [each[1] for each in heard.links] == [kind]


# Beside the structure ---------------------------------------------------------------------------


def test_what_the_structure_of_the_chunk_says_is_not_said_again():
    def structure(said):
        assert said.extractor == STRUCTURE
        ends = (Reference(SELF), Reference(NOTE, "Firms/Bolt Ltd"))
        said.link(0, ends, ("SUPPLIED_BY", "supplier"), "supplier: Bolt Ltd", "fact")
        said.claim(0, Reference(SELF), ("gas_cost", "240 eur a Month"), "x", "property", "fact")

    items = {
        "links": [BOLT, link("Kiln", "The shed", "The shed", "LOCATED_IN")],
        "claims": [PRICE, claim("Kiln", "gas cost", "240 EUR", COST)],
    }
    heard = hear(answer_of(**items), structure=structure)
    assert heard.reasons == {"said_as_structure": 2}
    assert [each[1] for each in heard.links] == ["LOCATED_IN"]
    assert [each[2] for each in heard.claims] == ["240 EUR"]


def test_what_another_chunk_says_as_structure_is_no_reason():
    text = "# Kiln\n\n" + "Nothing much here. " * 20 + f"\n\n## Two\n\n{GAS}.\n"
    _, chunks = note_of(text, limits=SMALL)
    piece = next(at for at, each in enumerate(chunks) if GAS in each["text"])
    assert piece

    def structure(said):
        ends = (Reference(SELF), Reference(NOTE, "Bolt Ltd"))
        said.link(0, ends, ("SUPPLIED_BY", "supplier"), "supplier: Bolt Ltd", "fact")

    heard = hear(answer_of(links=[BOLT]), text, piece=piece, limits=SMALL, structure=structure)
    assert (len(heard.links), heard.reasons) == (1, {})


# Who says it ------------------------------------------------------------------------------------

BOLD = "**User:** Heron costs 40 pounds.\n\n**Assistant:** Heron might cost 50 pounds.\n"
HEADINGS = (
    "## You said\n\nHeron costs 40 pounds.\n\n## ChatGPT said\n\nHeron might cost 50 pounds.\n"
)
ONE_HEADING = f"## Response\n\n{BOLD}"
PLAIN = "用户：Heron costs 40 pounds.\n\n助手：Heron might cost 50 pounds.\n"
NAMED = "**Human:** Heron costs 40 pounds.\n\n**Jarvis:** Heron might cost 50 pounds.\n"


def modality_of(body, value, said="fact", kind="chat"):
    text = f"---\nkind: {kind}\ntitle: Birds\n---\n{body}"
    quote = {"40 pounds": "Heron costs 40 pounds", "50 pounds": "Heron might cost 50 pounds"}[value]
    item = claim("Heron", "price", value, quote, said)
    (row,) = hear(answer_of(claims=[item]), text=text).claims
    return row[3]


@pytest.mark.parametrize(
    "body",
    [BOLD, HEADINGS, ONE_HEADING, PLAIN, NAMED],
    ids=["bold", "headings", "one heading", "plain", "named"],
)
@pytest.mark.parametrize("said", ["fact", "reported", "plan", "opinion", "hypothetical"])
def test_what_an_assistant_says_is_a_suggestion_and_what_the_user_says_is_as_it_is(body, said):
    assert modality_of(body, "40 pounds", said) == said
    assert modality_of(body, "50 pounds", said) == "ai_suggestion"


@pytest.mark.parametrize(
    "body",
    [
        "Heron costs 40 pounds.\n\n**User:** Yes?\n\n**Assistant:** No.\n",  # before the first turn
        "Heron costs 40 pounds.\n",  # no turns at all
        "**User:** Heron costs 40 pounds.\n\n**Assistant:** Heron costs 40 pounds.\n",  # both
        "```\nUser: Heron costs 40 pounds.\nAI: No.\n```\n",  # turns in a fence are none
    ],
)
@pytest.mark.parametrize("said", ["fact", "reported", "plan", "opinion", "hypothetical"])
def test_words_of_which_nobody_knows_who_says_them_are_no_fact(body, said):
    kept = said if said in ("plan", "opinion", "hypothetical") else "ai_suggestion"
    assert modality_of(body, "40 pounds", said) == kept


def test_people_among_themselves_state_facts_and_so_do_notes():
    people = "**Ana:** Heron costs 40 pounds.\n\n**Ben:** Heron might cost 50 pounds.\n"
    assert modality_of(people, "50 pounds") == "fact"
    assert modality_of(BOLD, "50 pounds", kind="note") == "fact"


def test_links_of_a_chat_are_meant_as_who_says_them():
    text = "---\nkind: chat\n---\n**User:** Ana Roth works for Bolt Ltd.\n\n"
    text += "**AI:** Ana Roth knows Bolt Ltd.\n"
    links = [
        link("Ana Roth", "Bolt Ltd", "Ana Roth works for Bolt Ltd", "WORKS_FOR"),
        link("Ana Roth", "Bolt Ltd", "Ana Roth knows Bolt Ltd", "KNOWS"),
    ]
    found = {each[1]: each[3] for each in hear(answer_of(links=links), text=text).links}
    assert found == {"WORKS_FOR": "fact", "KNOWS": "ai_suggestion"}


def test_the_speaker_of_a_turn_over_several_chunks_is_known_in_all_of_them():
    long = " ".join(f"Sentence number {at} goes on." for at in range(60))
    text = f"---\nkind: chat\n---\n**AI:** Yes.\n\n**User:** {long}\n\nHeron costs 40 pounds.\n"
    _, chunks = note_of(text, limits=SMALL)
    piece = next(at for at, each in enumerate(chunks) if "40 pounds" in each["text"])
    item = claim("Heron", "price", "40 pounds", "Heron costs 40 pounds")
    heard = hear(answer_of(claims=[item]), text, piece=piece, limits=SMALL)
    assert piece > 1
    assert heard.claims[0][3] == "fact"


def test_an_order_is_no_fact():
    text = "# Kiln\n\nPlease tell everyone that gas costs 9 EUR.\n- Gas costs 3 EUR.\n"
    claims = [
        claim("Kiln", "gas cost", "9 EUR", "gas costs 9 EUR"),
        claim("Kiln", "gas cost", "3 EUR", "Gas costs 3 EUR"),
    ]
    found = {row[2]: row[3] for row in hear(answer_of(claims=claims), text=text).claims}
    assert found == {"9 EUR": "plan", "3 EUR": "fact"}


# Answers that are none --------------------------------------------------------------------------

WHOLE = answer_of([mention("Bolt Ltd")])


def with_claims(claims):
    return WHOLE.replace('"claims": []', f'"claims": {claims}')


@pytest.mark.parametrize(
    "answer",
    [
        "", "  ", "null", "true", "[]", "{}", "Sorry.", f"```json\n{WHOLE}\n```", WHOLE + WHOLE,
        WHOLE[:-1], WHOLE.replace('"mentions"', '"Mentions"'), WHOLE[:-1] + ', "more": []}',
        with_claims("{}"), with_claims("null"), with_claims("[NaN]"), with_claims("[Infinity]"),
        with_claims("[1e999]"), with_claims('[], "claims": []'), with_claims(f"[{'9' * 5_000}]"),
        with_claims("[" * 9 + "]" * 9), "[" * 100_000, '{"a":' * 50_000, "\ufeff" + WHOLE,
        with_claims('["' + "x" * LONGEST_ANSWER + '"]'),
    ],
    ids=range(24),
)  # fmt: skip
def test_an_answer_that_is_not_what_was_asked_for_is_unusable_as_a_whole(answer):
    with pytest.raises(UnusableAnswerError) as problem:
        hear(answer)
    assert "Bolt" not in str(problem.value)


def test_brackets_inside_texts_nest_nothing():
    text = "[{" * 50 + '"' + "[" * 50
    assert read_answer(json.dumps({"a": text}), ["a"]) == {"a": text}


def test_one_bad_item_does_not_keep_the_others_away():
    mentions = [None, mention("Bolt Ltd"), 7, mention("Nobody Ltd")]
    heard = hear(answer_of(mentions, [BOLT, "x"], [{}, PRICE]))
    assert (len(heard.names), len(heard.links), len(heard.claims)) == (1, 1, 1)
    assert heard.reasons == {"wrong_fields": 4, "name_not_in_chunk": 1}


def test_more_items_than_anybody_reads_are_cut_and_counted():
    text = "# Kiln\n\n" + " ".join(f"Bolt{at}." for at in range(MOST_ITEMS + 50))
    items = [mention(f"Bolt{at}") for at in range(MOST_ITEMS + 50)]
    heard = hear(answer_of(items), text=text)
    assert len(heard.names) == MOST_ITEMS
    assert heard.reasons == {"items_cut": 50}


def test_of_two_items_that_say_the_same_one_stands_whatever_their_order():
    claims = [
        claim("Kiln", "cost", "240 EUR", "240 EUR a month", "plan"),
        claim("Kiln", "cost", "240 EUR", COST, "fact"),
    ]
    found = hear(answer_of(claims=claims)).rows["claim_observations"]
    assert len(found) == 1
    assert hear(answer_of(claims=claims[::-1])).rows["claim_observations"] == found


# Properties -------------------------------------------------------------------------------------

_WORDS = st.sampled_from(
    ["Kiln", "Bolt Ltd", "The shed", "Works/Shed", GAS, COST, "240 EUR", "cost", "fact", "plan", "",
     "SUPPLIED_BY", "RELATED_TO", "Organization", "2024", "it", "\ud800", "x" * 400, "\x00"]
)  # fmt: skip
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
_TEXT = _WORDS | st.text(max_size=12)
_MENTIONS = st.builds(
    mention, _TEXT, st.sampled_from(["Organization", "Person", "Firm"]), st.lists(_TEXT, max_size=3)
)
_LINKS = st.builds(link, _TEXT, _TEXT, _TEXT, _WORDS, _WORDS)
_CLAIMS = st.builds(claim, _TEXT, _TEXT, _TEXT, _TEXT, _WORDS, st.tuples(_TEXT, _TEXT))


@st.composite
def _answers(draw):
    lists = {"mentions": _MENTIONS, "links": _LINKS, "claims": _CLAIMS}
    return {name: draw(st.lists(items | _VALUES, max_size=6)) for name, items in lists.items()}


def _rows(heard):
    bare = [{**row, "ordinal": 0} for rows in heard.rows.values() for row in rows]
    return sorted(json.dumps(row, sort_keys=True) for row in bare)


@given(_answers(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_any_items_give_sound_rows_that_quote_the_chunk_in_whatever_order(answer, shuffler):
    _, (chunk,) = note_of(KILN)
    heard = hear(json.dumps(answer))  # the contracts are checked in it
    assert is_quoted(heard.rows, chunk)
    assert heard == hear(json.dumps(answer))
    others = {
        name: random.Random(shuffler.random()).sample(rows, len(rows))
        for name, rows in answer.items()
    }
    again = hear(json.dumps(others))
    assert (_rows(again), again.counts) == (_rows(heard), heard.counts)


@given(
    _VALUES.map(json.dumps) | st.text(max_size=40) | st.text('[]{}":,01eE-.\\u ntf', max_size=30)
)
@settings(max_examples=150, deadline=None)
def test_any_text_is_an_answer_or_is_refused(text):
    try:
        heard = hear(text)
    except UnusableAnswerError:
        return
    assert json.loads(text).keys() == {"mentions", "links", "claims"}
    assert heard.counts is not None
