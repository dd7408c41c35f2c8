"""What a note says in structured form: properties, header blocks, fields, dated lines, tables."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.extractions.extraction import OBSERVED, extract
from kb_assets.extractions.observations import LONGEST_VALUE, MOST_ROWS
from kb_assets.extractions.tables import MOST_ROWS as MOST_TABLE_ROWS
from kb_core.ids import fingerprint
from tests.extracted_notes import (
    LIMITS,
    ONTOLOGY,
    SMALL,
    claims_in,
    cut,
    extracted,
    links_in,
    parsed,
    said_in,
    shown,
)

HEADER = (
    "# PEP 345 - Metadata\n\nPEP: 345\nStatus: {status}\n"
    "Author: Gwen Mabry,\n  Tom Verrall <tom@x.org>\n"
)


def types_of(text: str, **options: object) -> list[tuple[str, str, str]]:
    rows = said_in(text, **options)["mentions"]
    return [(shown(row, "subject"), row["type"], row["basis"]) for row in rows]


# Properties ---------------------------------------------------------------------------------


def test_a_property_that_links_gives_a_link_of_the_ontologys_type():
    text = (
        '---\nowner: "[[people/Mara Lind|Mara]]"\ndepends_on:\n  - "[[Sub-board]]"\n---\nA saw.\n'
    )
    assert links_in(text) == [
        ("self", "OWNED_BY", "note people/Mara Lind", "fact"),
        ("self", "DEPENDS_ON", "note Sub-board", "fact"),
    ]


def test_an_inverse_property_has_the_note_as_its_target():
    assert links_in('---\nreplaces: "[[Old plan]]"\n---\nNew.\n') == [
        ("note Old plan", "SUPERSEDED_BY", "self", "fact")
    ]


def test_a_link_in_an_unknown_property_is_related_and_keeps_its_label():
    row = said_in('---\nstored near: "[[Kiln]]"\n---\nX.\n')["link_observations"][0]
    assert (row["type"], row["label"], row["target"]) == ("RELATED_TO", "stored_near", "Kiln")


def test_plain_names_are_split_and_have_the_propertys_type():
    text = (
        "---\nauthors: Gwen Mabry, Tom Verrall (editor) and Ines Calloway <ines@x.org>\n---\nX.\n"
    )
    assert [link[2] for link in links_in(text)] == [
        "name Gwen Mabry",
        "name Tom Verrall",
        "name Ines Calloway",
    ]
    assert ("name Gwen Mabry", "Person", "value") in types_of(text)
    assert [x[2] for x in links_in("---\nauthor: The core team and community\n---\nX.\n")] == [
        "name The core team and community"
    ]


@pytest.mark.parametrize(
    "value", ["https://x.org/a", "2024-05-02", "see what Mara said about it in the long meeting",
              "yes", "/data/team.yml", "12"],
)  # fmt: skip
def test_a_value_that_names_nothing_is_a_claim(value: str):
    assert links_in(f"---\nsource: {value}\n---\nX.\n") == []
    assert claims_in(f"---\nsource: {value}\n---\nX.\n") == [("self", "source", value, "fact")]


def test_a_text_with_a_link_among_other_words_is_a_claim():
    text = '---\nremark: "see [[Kiln|the kiln]] first"\n---\nX.\n'
    assert links_in(text) == []
    assert claims_in(text) == [("self", "remark", "see the kiln first", "fact")]


def test_a_plain_word_is_no_name_and_a_short_name_of_a_person_is_one():
    assert links_in("---\nuses: python\nowner: bob\n---\nX.\n") == []
    assert [link[2] for link in links_in("---\nuses: Python\nowner: Al\n---\nX.\n")] == [
        "name Python",
        "name Al",
    ]


def test_milliseconds_are_a_date():
    assert claims_in("---\ncreated: 1714608000000\n---\nX.\n")[0][2] == "2024-05-02"


def test_none_and_a_templates_open_place_say_nothing():
    found = extracted({"a.md": "---\nowner: none\nbudget: '{{budget}}'\nrole: -\n---\nX.\n"})
    assert all(found.tables[contract.name].num_rows == 0 for contract in OBSERVED)
    assert found.counts["properties_left"] == 3


def test_layout_and_ids_are_silent():
    assert (
        claims_in(
            "---\ntags: a\ncssclass: wide\nimage:\n  url: x\nuid: 7\ndate: 2024-01-01\n---\nX.\n"
        )
        == []
    )


def test_a_value_that_is_too_long_is_counted_and_left():
    found = extracted({"a.md": f"---\nremark: {'long ' * 60}\n---\nX.\n"})
    assert found.tables["claim_observations"].num_rows == 0
    assert found.counts["long_values"] == 1


def test_a_prefixed_status_is_the_status_only_where_there_is_no_other():
    assert claims_in("---\nproject status: open\n---\nX.\n")[0][1] == "status"
    both = claims_in("---\nstatus: open\nproject status: done\n---\nX.\n")
    assert [claim[1] for claim in both] == ["status", "project_status"]


def test_an_attribute_whose_value_is_a_link_is_a_claim():
    assert claims_in('---\nstatus: "[[Active]]"\n---\nX.\n') == [
        ("self", "status", "Active", "fact")
    ]


# What the note is ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "kind"),
    [("type: company", "Organization"), ("type: asset", "Asset"), ("kind: person", "Person"),
     ("type: Standards Track", "Standards Track"), ("type: a kind of one's own", None),
     ("kind: card", None)],
)  # fmt: skip
def test_a_notes_type_is_the_ontologys_or_its_own_word(line: str, kind: str | None):
    found = [row[1] for row in types_of(f"---\n{line}\n---\nX.\n") if row[2] == "type"]
    assert found == ([kind] if kind else [])


def test_a_number_names_the_note_when_its_title_says_so():
    rows = said_in(HEADER.format(status="Final"))["mentions"]
    assert [row["name"] for row in rows if row["basis"] == "identifier"] == ["pep 345"]
    assert said_in("# Budget 345\n\nX.\n\nyear:: 345\n")["mentions"] == []


def test_a_number_that_is_an_alias_names_the_note_without_its_zeros():
    rows = said_in("---\nspec: 0042\naliases: [SPEC-42]\n---\nX.\n")["mentions"]
    assert [row["name"] for row in rows if row["basis"] == "identifier"] == ["spec 42"]


def test_numbers_in_the_links_of_a_numbered_note_count_the_same():
    text = HEADER.format(status="Final") + "Replaces: 0314, PEP 241\nSuperseded-By: 566\n\nText.\n"
    assert [link[:3] for link in links_in(text) if "SUPERSEDED" in link[1]] == [
        ("number pep 314", "SUPERSEDED_BY", "self"),
        ("number pep 241", "SUPERSEDED_BY", "self"),
        ("self", "SUPERSEDED_BY", "number pep 566"),
    ]


# Header blocks and modality -----------------------------------------------------------------


def test_front_matter_and_header_block_say_a_thing_once():
    front = "---\nstatus: Final\nauthors: [Gwen Mabry, Tom Verrall]\n---\n"
    text = front + HEADER.format(status="Final") + "\nText.\n"
    claims = [row for row in said_in(text)["claim_observations"] if row["attribute"] == "status"]
    assert [(row["value"], row["basis"], row["quote"]) for row in claims] == [
        ("Final", "header", "Status: Final")
    ]
    assert [link[2] for link in links_in(text)] == ["name Gwen Mabry", "name Tom Verrall"]


@pytest.mark.parametrize(("status", "modality"), [("Final", "fact"), ("Withdrawn", "plan")])
def test_what_a_note_plans_is_a_plan_and_who_wrote_it_a_fact(status: str, modality: str):
    text = HEADER.format(status=status) + "Requires: 301\nPages: 12\nReplaces: 314\n\nText.\n"
    found = {link[1]: link[3] for link in links_in(text)}
    assert found == {"AUTHORED_BY": "fact", "DEPENDS_ON": modality, "SUPERSEDED_BY": modality}
    assert {claim[1]: claim[3] for claim in claims_in(text)} == {
        "status": "fact",
        "pages": modality,
    }


def test_draft_minutes_of_a_day_are_no_plan():
    text = "---\nstatus: draft\n---\n# Minutes\n\n- headcount:: 9\n"
    assert ("self", "headcount", "9", "plan") in claims_in(text, "Minutes.md")
    assert ("self", "headcount", "9", "fact") in claims_in(text, "2024-05-02 Minutes.md")


def test_validity_stands_with_every_property():
    rows = said_in("---\nvalid_from: 2 May 2024\nvalid_until: 2025\nfee: 9\n---\nX.\n")
    claim = rows["claim_observations"][0]
    assert (claim["valid_from"], claim["valid_to"]) == ("2024-05-02", "2025")


# Inline fields ------------------------------------------------------------------------------

LOG = (
    "# Sales\n\n## 2024-01-05\n\n- monthly revenue:: £100\n\n"
    "## 2024-02-05\n\n- monthly revenue:: £120\n"
)


def test_an_inline_field_belongs_to_the_chunk_it_stands_in():
    tables = parsed({"Sales.md": LOG})
    chunks = cut(tables)
    written = dict(zip(chunks["chunk_id"].to_pylist(), chunks["written_date"].to_pylist(),
                       strict=True))  # fmt: skip
    found = extract(tables.notes, tables.note_links_raw, chunks, ONTOLOGY)
    rows = found.tables["claim_observations"].to_pylist()
    assert [(written[row["chunk_id"]], row["value"], row["basis"]) for row in rows] == [
        ("2024-01-05", "£100", "field"),
        ("2024-02-05", "£120", "field"),
    ]


def test_a_field_of_a_task_and_one_in_code_are_not_the_notes():
    assert claims_in("# A\n\n- [ ] call (due:: 2024-05-02)\n\n```\nbudget:: 4\n```\n") == []


def test_what_an_assistants_chat_states_is_never_a_fact():
    chat = "**User:** a\n\n**Assistant:** b\n\n**User:** c\n\n**Assistant:**\n\nprice:: 4\n"
    assert claims_in(chat) == [("self", "price", "4", "ai_suggestion")]


# Dated lines --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        ("- 2024-05-02: [[P1|P]] moved from Draft to Accepted.", ("P1", "Accepted", "2024-05-02")),
        ("* 2 May 2024 – [[P1]] → in progress", ("P1", "in progress", "2024-05-02")),
        ("1. [[2024-05-02]]: [[P1]] came in as Draft (by Mara).", ("P1", "Draft", "2024-05-02")),
        ("- **2024-05**: [Plan](plans/P1.md) is now *done*", ("plans/P1.md", "done", "2024-05")),
        ("- 2024-05-02: [[P1]] 改为已完成", ("P1", "已完成", "2024-05-02")),
        ("- 2024-05-02: [[P1]] (opened to Final) moved to Draft.", ("P1", "Draft", "2024-05-02")),
    ],
)  # fmt: skip
def test_a_dated_line_gives_what_it_links_to_a_state(line: str, claim: tuple[str, str, str]):
    rows = said_in(f"# Log\n\n{line}\n")["claim_observations"]
    assert [(row["subject"], row["value"], row["valid_from"]) for row in rows] == [claim]
    assert {(row["attribute"], row["basis"], row["modality"]) for row in rows} == {
        ("status", "log", "fact")
    }


@pytest.mark.parametrize(
    "line",
    [
        "- [[P1]] moved to Accepted.",  # no date
        "- 2024-05-02: P1 moved to Accepted.",  # no link
        "- 2024-05-02: [[P1]] moved to the attic.",  # no state
        "- 2024-05-02: [[P1]] was compared to accepted practice.",  # no end of a clause
        "- 2024-05-02: [[2024-05-03]] moved to Accepted.",  # a day
        "- 2024-05-02: [P1](https://x.org) moved to Accepted.",  # an address
        "2024-05-02: [[P1]] moved to Accepted.",  # no list
        "```\n- 2024-05-02: [[P1]] moved to Accepted.\n```",
    ],
)
def test_other_lines_give_no_state(line: str):
    assert claims_in(f"# Log\n\n{line}\n") == []


def test_a_line_under_a_dated_heading_has_its_date():
    rows = said_in("# Log\n\n## 2024-05-02\n\n- [[P1]] moved to Accepted.\n")["claim_observations"]
    assert [row["valid_from"] for row in rows] == ["2024-05-02"]


def test_a_line_that_is_a_paragraph_is_counted_and_left():
    line = f"- 2024-05-02: [[P1]] {'said much and ' * 90} moved to Final."
    found = extracted({"a.md": line})
    assert found.tables["claim_observations"].num_rows == 0
    assert found.counts["long_lines"] == 1


# Dated tables -------------------------------------------------------------------------------

PRICES = (
    "| Product | from | price |\n|---|---|---|\n| [[Wren 40\\|Wren]] | 2023 | £1,890 |\n"
    "| [[Kiln Care]] | 1 May 2025 | £24 |\n"
)


def test_a_dated_table_states_values_of_what_its_rows_name():
    rows = said_in(f"# Prices\n\n{PRICES}")["claim_observations"]
    assert [(shown(r, "subject"), r["attribute"], r["value"], r["valid_from"]) for r in rows] == [
        ("note Wren 40", "price", "£1,890", "2023"),
        ("note Kiln Care", "price", "£24", "2025-05-01"),
    ]


def test_a_dated_table_without_names_speaks_of_the_note():
    text = (
        "| Date | Plans | Left |\n|---|---|---|\n| 2024-01-02 | 31 | - |\n| 2024-03-02 | 52 | 4 |\n"
    )
    assert [claim[:3] for claim in claims_in(text)] == [
        ("self", "plans", "31"),
        ("self", "plans", "52"),
        ("self", "left", "4"),
    ]


def test_a_table_of_two_columns_speaks_of_the_note_and_a_bar_may_stand_in_a_cell():
    text = "| Date | Event |\n|---|---|\n| 2024-01-02 | Launch \\| dinner |\n"
    assert claims_in(text) == [("self", "event", "Launch | dinner", "fact")]


@pytest.mark.parametrize(
    "table",
    [
        "| Product | price |\n|---|---|\n| Wren | 4 |\n",  # no dates
        "| Month | What |\n|---|---|\n| May | oil |\n",  # no year
        "| Size | price |\n|---|---|\n| 2023 | 4 |\n",  # numbers that look like years
        "| Id | Date | N |\n|---|---|---|\n| 7 | 2024-01-02 | 4 |\n",  # rows about no name
        f"```\n{PRICES}```\n",
    ],
)
def test_a_table_without_dates_states_nothing(table: str):
    assert claims_in(f"# T\n\n{table}") == []


def test_a_table_that_is_too_long_is_cut_and_counted():
    rows = "".join(f"| 2024-01-02 | {n} |\n" for n in range(MOST_TABLE_ROWS + 7))
    large = replace(LIMITS, whole_note_tokens=10_000)
    found = extracted({"a.md": f"| Date | Plans |\n|---|---|\n{rows}"}, limits=large)
    assert found.tables["claim_observations"].num_rows == MOST_TABLE_ROWS
    assert found.counts["table_rows_cut"] == 7


def test_a_chunk_that_says_too_much_is_cut_and_counted():
    fields = "\n".join(f"field {n}:: {n}" for n in range(MOST_ROWS + 5))
    found = extracted({"a.md": fields}, limits=replace(LIMITS, whole_note_tokens=100_000))
    assert found.tables["claim_observations"].num_rows == MOST_ROWS
    assert found.counts["rows_cut"] == 5


# Versions, order and hostile text -----------------------------------------------------------


def test_every_kept_version_says_its_own():
    found = extracted({"a.md": ["---\nstatus: Draft\n---\nX.\n", "---\nstatus: Final\n---\nX.\n"]})
    rows = found.tables["claim_observations"].to_pylist()
    assert [row["value"] for row in rows] == ["Draft", "Final"]
    assert len({row["version_id"] for row in rows}) == 2


def test_text_above_a_field_changes_nothing_of_what_the_chunks_below_say():
    before = said_in(LOG, limits=SMALL)["claim_observations"]
    after = said_in(LOG.replace("# Sales\n", "# Sales\n\nNew words on top.\n"), limits=SMALL)
    assert [row["chunk_id"] for row in before] == [
        row["chunk_id"] for row in after["claim_observations"]
    ]


def test_the_order_of_the_input_is_no_matter():
    tables = parsed({"a.md": LOG, "b.md": HEADER.format(status="Draft"), "c.md": PRICES})
    chunks = cut(tables, SMALL)
    first = extract(tables.notes, tables.note_links_raw, chunks, ONTOLOGY)
    for seed in range(5):
        shuffled = []
        for table in (tables.notes, tables.note_links_raw, chunks):
            order = list(range(table.num_rows))
            random.Random(seed).shuffle(order)
            shuffled.append(table.take(order))
        again = extract(*shuffled, ONTOLOGY)
        for name, table in first.tables.items():
            assert fingerprint(again.tables[name]) == fingerprint(table)


PIECES = st.sampled_from(
    ["---\n", "status: Draft\n", "owner: [[A]]\n", "# T\n", "\n", "Key: value\n", "::", " ",
     "Other: [[B|c]]\n", "Third: 3\n", "- 2024-05-02: [[P]] moved to Final.\n", "| Date | N |\n",
     "|---|---|\n", "| 2024-01-01 | 4 |\n", "```\n", "a:: b\n", "[x:: [[y]]] ", "## 2024-05-02\n",
     "\\|", "[[", "]]", "é中\u2028", "\r\n", "\x00", "%%", "{{", "> "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=150, deadline=None)
def test_any_text_gives_rows_that_keep_their_promises(text: str):
    tables = parsed({"a.md": text})
    chunks = cut(tables, SMALL)
    found = extract(tables.notes, tables.note_links_raw, chunks, ONTOLOGY)
    known = set(chunks["chunk_id"].to_pylist())
    for table in found.tables.values():
        assert set(table["chunk_id"].to_pylist()) <= known
    for row in found.tables["claim_observations"].to_pylist():
        assert 0 < len(row["value"]) <= LONGEST_VALUE
        assert row["modality"] in ONTOLOGY.modalities
    for row in found.tables["link_observations"].to_pylist():
        assert "self" in (row["source_kind"], row["target_kind"])
        assert row["type"] in ONTOLOGY.links


@pytest.mark.parametrize(
    "text",
    ["- 2024-05-02: " + "[[a]] to " * 40_000, "|" * 200_000 + "\n|---|\n",
     "| a | b |\n|---|---|\n" * 9_000, "a:: b " * 40_000, "```\n" * 40_000,
     "---\nowner: " + "x, " * 15_000 + "\n---\n",
     "# T\n\n" + "k: v\n" * 40_000, " " * 200_000, "source:: " + "a@" * 60_000,
     "- " + "2024-05-02 " * 20_000 + "[[a]]"],
)  # fmt: skip
def test_no_text_makes_it_slow(text: str):
    import time

    tables = parsed({"a.md": text})
    chunks = cut(tables)
    start = time.process_time()
    extract(tables.notes, tables.note_links_raw, chunks, ONTOLOGY)
    assert time.process_time() - start < 2
