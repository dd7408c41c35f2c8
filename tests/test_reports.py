"""What the reports find in a vault that has one of each fault, and what they leave alone."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.extractions import readings
from kb_assets.note_links.figures import COLUMNS, link_figures
from kb_assets.note_links.run import run as link
from kb_assets.notes import findings as codes
from kb_core.contracts import NOTE_LINKS
from kb_serve.reports import cards as card_faults
from kb_serve.reports.catalogue import ALL, OF_NOTES, make_sections
from kb_serve.reports.duplicates import COPY, NEAR, SAME, duplicate_notes, original_of
from kb_serve.reports.headings import broken_parts
from kb_serve.reports.of_files import MEANINGS
from kb_serve.reports.of_reading import MEANINGS as READING_MEANINGS
from kb_serve.reports.of_reading import READINGS
from kb_serve.reports.present import Present
from kb_serve.reports.set_join import similar_groups
from kb_serve.reports.shingles import Shingles, share, words_of
from tests.built_home import build, open_home
from tests.small_vault import put

LONG = " ".join(f"word{number}" for number in range(200))
STORY = (
    "The kiln was fired on Monday and opened on Wednesday; nine of the forty pots had cracked at "
    "the foot, all of them from the lower shelf, where the cold air of the yard comes in."
)
VAULT = {
    "Hub.md": (
        "[[Plan]] [[plan|the plan]] [[Gone]] [[gone.md]] ![[GONE]] [[Old town]] [[Dust]]\n"
        "[[Plan#Costs]] [[Plan#Cost]] [[Plan#^here]] [[Plan#^lost]] [[#Nowhere]]\n"
        "[costs](Plan.md#costs)\n"
    ),
    "Plan.md": "# Plan\n\n## Costs\n\nTen pounds. ^here\n\n### Detail\n\n[[Hub]]\n",
    "Wiki/Harbour town.md": "---\naliases: [Old town]\n---\nSee [[Hub]].\n",
    "Work/Dust.md": "[[Hub]]\n",
    "Home/Dust.md": "[[Dust]] and [[Work/Dust]]\n",
    "Lonely.md": "Nothing here but [[Nobody]].\n",
    "Meadow Lane.md": "A quiet street.\n",
    "Talk.md": "Meadow Lane, I mean Meadow Lane, was quiet. Harbour town came later. [[Hub]]\n",
    "Talk two.md": "Meadow Lane again, and [[Wiki/Harbour town]]: Harbour town is far.\n",
    "Swapped.md": "[[here|Plan]] [[here|Plan#Costs]] [[here|nothing]]\n",
}


ODD_VAULT = {
    "Sub-board.md": "x",
    "Signs.md": "[[Sub board]] [[Subboards]]",
    "A/a.md": "[[./x]]",
    "B/b.md": "[[./x]] [[./X]] [[../A/X]]",
    "A/Dust.md": "---\naliases: [Saw]\n---\n",
    "B/Dust.md": "y",
    "C.md": "[[saw]]",
    "Twin.md": STORY,
    "Twin two.md": STORY,
    "Plan.md": LONG,
    "Plan (conflicted copy 2024-01-02).md": f"{LONG} And more.",
    "Card.md": "---\nkind: card\nbad: [\n---\n",
    "Map.canvas": "{}",
    "Picture.md": "\0\0",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return home_over(tmp_path_factory.mktemp("reports"), VAULT)


@pytest.fixture(scope="module")
def odd_home(tmp_path_factory):
    return home_over(tmp_path_factory.mktemp("odd"), ODD_VAULT)


@pytest.fixture(scope="module")
def found(home):
    return reports_of(home)


@pytest.fixture(scope="module")
def odd(odd_home):
    return reports_of(odd_home)


def home_over(folder, notes):
    """Build a home over these notes."""
    for path, text in notes.items():
        put(folder / "vault", path, text)
    home = open_home(folder / "home", folder / "vault")
    build(home, with_vectors=False)
    return home


def reports_of(home):
    """Return the rows of every report by its name."""
    return {section.kind.name: section.rows for section in make_sections(Present(home), ALL)}


def row_of(rows, **wanted):
    """Return the one row with these values."""
    (row,) = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    return row


# --- links


def test_spellings_of_a_missing_target_are_one_row_with_its_sources(found):
    gone = row_of(found["dangling"], target="GONE")

    assert gone == {
        "target": "GONE",
        "links": 3,
        "notes": 1,
        "sources": ["Hub.md"],
        "perhaps": "",
        "swapped": 0,
    }
    assert [row["target"] for row in found["dangling"]] == ["GONE", "here", "Nobody"]


def test_a_link_whose_shown_part_names_a_note_may_have_its_parts_swapped(found):
    here = row_of(found["dangling"], target="here")

    assert (here["links"], here["swapped"]) == (3, 2)


def test_a_missing_target_that_differs_in_signs_alone_names_the_note_that_was_meant(odd):
    assert row_of(odd["dangling"], target="Sub board")["perhaps"] == "Sub-board.md"
    assert row_of(odd["dangling"], target="Subboards")["perhaps"] == ""


def test_relative_targets_of_two_folders_are_two_notes(odd):
    rows = [row for row in odd["dangling"] if "/" in row["target"]]

    assert sorted((row["links"], row["sources"]) for row in rows) == [
        (2, ["A/a.md", "B/b.md"]),
        (2, ["B/b.md"]),
    ]


def test_an_alias_that_is_linked_to_says_what_to_write(found):
    (alias,) = found["aliases"]

    assert alias["means"] == ["Wiki/Harbour town.md"]
    assert alias["write"] == ["[[Harbour town|Old town]]"]


def test_the_link_to_write_has_a_path_where_the_name_alone_is_not_clear(odd):
    assert odd["aliases"][0]["write"] == ["[[A/Dust|saw]]"]


def test_an_ambiguous_name_says_which_note_it_takes_and_why(found):
    rules = {(row["takes"], row["rule"]): row for row in found["ambiguous"]}

    assert rules["Home/Dust.md", "the shortest path"]["sources"] == ["Hub.md"]
    assert rules["Home/Dust.md", "in the same folder"]["sources"] == ["Home/Dust.md"]
    assert rules["Home/Dust.md", "the shortest path"]["others"] == ["Work/Dust.md"]
    assert rules["Home/Dust.md", "the shortest path"]["write"] == "[[Home/Dust|Dust]]"
    assert len(rules) == 2  # a whole path is clear


def test_headings_and_blocks_that_a_note_does_not_have_are_listed(found):
    rows = {(row["note"], row["part"]): row["perhaps"] for row in found["headings"]}

    assert rows == {
        ("Plan.md", "#Cost"): "Costs",
        ("Plan.md", "#^lost"): "",
        ("Hub.md", "#Nowhere"): "",
    }


@pytest.mark.parametrize(
    ("part", "is_there"),
    [
        ("Costs", True),
        ("costs", True),
        ("A + B: c/d", True),
        ("A B c d", True),
        ("a--b-cd", True),  # as a page's anchor
        ("Costs#Detail", True),
        ("Detail#Costs", False),  # not below it
        ("Costs#A + B: c/d", False),  # beside it
        ("two-1", True),
        ("two-2", False),
        ("bold link", True),
        ("[[X|link]]", False),
        ("**bold** [[X|link]]", True),
    ],
)
def test_a_heading_is_found_by_its_words_by_a_chain_or_by_its_anchor(part, is_there):
    body = (
        "# Top\n\n## Costs\n\n### Detail\n\n## A + B: c/d\n\n## Two\n\n## Two\n\n"
        "## **bold** [[X|link]]\n\n```\n## Hidden\n```\n"
    )
    links = part_links({"heading": part})

    assert (broken_parts(links, {"N.md": body}) == []) is is_there
    assert broken_parts(part_links({"heading": "Hidden"}), {"N.md": body})


@pytest.mark.parametrize(
    ("body", "is_there"),
    [
        ("text ^b1", True),
        ("text ^B1  \r\nmore", True),
        ("| a |\n\n^b1\n", True),
        ("text^b1", False),
        ("text ^b1 more", False),
    ],
)
@pytest.mark.parametrize("block", ["b1", "B1"])
def test_a_block_is_an_id_at_the_end_of_a_line(body, block, is_there):
    assert (broken_parts(part_links({"block": block}), {"N.md": body}) == []) is is_there


def part_links(row):
    whole = {"source_note_id": "S.md", "target_note_id": "N.md", "heading": None, "block": None}
    return pa.Table.from_pylist([{**whole, **row}])


# --- notes that stand alone, and notes that are named


def test_an_orphan_has_no_link_with_another_note_whatever_its_dangling_ones(found):
    rows = {row["note"]: row for row in found["orphans"]}

    assert list(rows) == ["Meadow Lane.md", "Lonely.md", "Swapped.md"]
    assert rows["Meadow Lane.md"]["mentioned_in"] == 2
    assert rows["Lonely.md"]["dangling"] == 1


def test_a_note_that_others_name_without_linking_is_suggested_to_them(found):
    lane = row_of(found["mentions"], note="Meadow Lane.md")

    assert lane["names"] == ["Meadow Lane"]
    assert (lane["notes"], lane["occurrences"]) == (2, 3)
    assert lane["sources"] == ["Talk.md", "Talk two.md"]


def test_a_note_that_links_once_is_not_asked_to_link_again(found):
    assert row_of(found["mentions"], note="Wiki/Harbour town.md")["sources"] == ["Talk.md"]


def test_the_figures_of_the_stage_are_those_of_the_reports(home, found):
    counts = link(home).counts

    assert counts["dangling"] == sum(row["links"] for row in found["dangling"])
    assert counts["by_alias"] == sum(row["links"] for row in found["aliases"])
    assert counts["ambiguous"] == sum(row["links"] for row in found["ambiguous"])
    assert counts["orphans"] == len(found["orphans"]) > 0
    assert all(isinstance(value, int) for value in counts.values())  # never a name


def test_a_vault_without_links_has_only_orphans():
    notes = pa.table({"note_id": ["A.md", "B.md"]})

    figures = link_figures(notes, NOTE_LINKS.empty().select(COLUMNS))

    assert figures == {"dangling": 0, "by_alias": 0, "ambiguous": 0, "orphans": 2}


# --- the same said twice


def test_copies_are_told_from_equal_and_from_nearly_equal_notes():
    rows = duplicate_notes(
        [
            ("A.md", f"{LONG}\n\n{STORY}"),
            ("B.md", f"{LONG.upper()} -- {STORY}"),
            ("C.md", f"{LONG} more words here {STORY}"),
            ("D.md", STORY),
            ("Plan.md", "short"),
            ("Plan (conflicted copy 2024-01-02).md", f"short {STORY}"),
            ("Lost.sync-conflict-1.md", STORY),
            ("Stub.md", "to do: call them back before the end of the week"),
            ("Stub two.md", "to do: call them back before the end of the week"),
        ],
        ["Plan (conflicted copy 2024-01-02).md", "Lost.sync-conflict-1.md"],
    )

    assert [(row["kind"], row["notes"]) for row in rows] == [
        (COPY, ["Lost.sync-conflict-1.md"]),
        (COPY, ["Plan (conflicted copy 2024-01-02).md", "Plan.md"]),
        (NEAR, ["A.md", "B.md", "C.md"]),
    ]
    assert rows[0]["similarity"] is None
    assert 0.9 < rows[2]["similarity"] < 1
    assert duplicate_notes([("A.md", LONG), ("B.md", LONG)], [])[0]["kind"] == SAME


def test_a_conflict_copy_belongs_to_the_longest_name_that_its_own_continues():
    beside = ["N.md", "Note.md", "Note two.md", "Notebook.md"]

    assert original_of("Note two (conflicted copy).md", beside) == "Note two.md"
    assert original_of("Note 2.md", beside) == "Note.md"
    assert original_of("Notes 2.md", beside) == ""


def test_notes_of_a_script_without_blanks_are_compared_by_character():
    words = "一号窑于周一点火并于周三打开四十件陶罐中有九件底部开裂全部来自下层"

    rows = duplicate_notes([("A.md", words), ("B.md", words + "。窑"), ("C.md", words[::-1])], [])

    assert [row["notes"] for row in rows] == [["A.md", "B.md"]]
    assert words_of("No.2 窑x, カタ") == ["no", "2", "窑", "x", "カ", "タ"]


def test_copies_in_a_vault_are_reported_once_each(odd):
    copy, twins = odd["duplicates"]

    assert (copy["kind"], copy["notes"][1]) == (COPY, "Plan.md")
    assert 0.9 < copy["similarity"] < 1
    assert (twins["kind"], twins["notes"]) == (SAME, ["Twin two.md", "Twin.md"])


TEXTS = st.lists(
    st.lists(st.sampled_from("abcdefghij"), max_size=12, unique=True).map(sorted), max_size=14
)


@given(TEXTS, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
@settings(max_examples=300, deadline=None)
def test_groups_are_those_of_all_pairs_compared(texts, threshold):
    sets = [np.array([ord(letter) for letter in text], np.uint64) for text in texts]

    found = similar_groups(sets, threshold)

    assert [list(group.members) for group in found] == slow_groups(sets, threshold)
    for group in found:
        near = [share(sets[a], sets[b]) for a, b in combinations(group.members, 2)]
        assert group.similarity in near
        assert group.similarity >= threshold


def slow_groups(sets, threshold):
    """Compare every set with every other, and join what is similar."""
    groups = [{at} for at in range(len(sets))]
    for one, other in combinations(range(len(sets)), 2):
        both, either = {*sets[one]} & {*sets[other]}, {*sets[one]} | {*sets[other]}
        if both and len(both) / len(either) >= threshold:
            joined = next(g for g in groups if one in g) | next(g for g in groups if other in g)
            groups = [group for group in groups if not group & joined] + [joined]
    return sorted(sorted(group) for group in groups if len(group) > 1)


def test_a_group_is_as_alike_as_the_weakest_pair_that_holds_it_together():
    tens = np.arange(10, dtype=np.uint64)
    sets = [tens[:8], tens, tens[:9]]  # 8 of 9, 9 of 10; the first two alone: 8 of 10

    (group,) = similar_groups(sets, 0.85)

    assert group == ((0, 1, 2), 8 / 9)


def test_many_notes_from_one_template_are_one_group_and_cost_little():
    shingles = Shingles(4)
    sets = [shingles.of(f"{LONG} note {number} of {number * 7}") for number in range(2000)]

    (group,) = similar_groups(sets, 0.8)

    assert len(group.members) == 2000


# --- cards

CARD = "---\nkind: card\ntags: [glaze]\nsummary: {summary}\n---\n## Essence\n\n{text}\n"


def test_each_fault_of_a_card_is_found_and_a_good_card_has_none(tmp_path):
    good = CARD.format(
        summary="Glaze is thin glass.", text=f"{STORY} [[Sprawl]]\n\n### Essence in short"
    )
    notes = {
        "Good.md": good,
        "Sprawl.md": good.replace("thin", "wide").replace("kiln", "oven") + "\n## Essence two\n",
        "Bare.md": "---\nkind: card\naliases: [good]\n---\nWood ash melts late. [[Good]]\n",
        "Own summary.md": "---\nkind: evidence\n---\n## Summary\n\nYes.\n\n[[Unwritten]] [[a.png]]",
        "Book/1.md": "---\nkind: section\ntags: [fire]\n---\nAlone.\n",
        "Book/2.md": "---\nkind: section\n---\nJoined to [[Good]].\n",
        "Book/3.md": "---\nkind: section\n---\nA passage that names Own summary alone.\n",
        "Book/4.md": "---\nkind: section\ntags: [glaze]\n---\nAlone, but for its tag.\n",
        "Plain.md": "[[Nothing here]]",
    }

    rows = reports_of(home_over(tmp_path, notes))["cards"]

    assert [(row["code"], row["notes"], row["what"]) for row in rows] == [
        (card_faults.MANY_IDEAS, ["Sprawl.md"], ""),
        (card_faults.NO_SUMMARY, ["Bare.md"], ""),
        (card_faults.SAME_NAME, ["Bare.md", "Good.md"], "Good"),
        (card_faults.ALIKE, ["Good.md", "Sprawl.md"], ""),
        (card_faults.NO_CARD, ["Own summary.md"], "Unwritten"),
        (card_faults.ISOLATED, ["Own summary.md"], ""),
        (card_faults.UNREACHED, ["Book/1.md"], ""),
    ]


# --- the catalogue


def test_reports_are_of_present_notes_alone(tmp_path):
    home = home_over(tmp_path, {"A.md": "[[Gone]] [[B]]", "B.md": STORY, "C.md": STORY})
    put(tmp_path / "vault", "A.md", "[[C]]")
    (tmp_path / "vault" / "B.md").unlink()
    build(home, with_vectors=False)

    found = {s.kind.name: s.rows for s in make_sections(Present(home), OF_NOTES)}

    assert not any(found.values())


def test_who_read_the_passages_is_counted_by_reader_and_reason(home):
    (found,) = make_sections(Present(home), [READINGS])
    assert {row["by"] for row in found.rows} == {"rules-v1"}
    assert sum(row["chunks"] for row in found.rows) == sum(
        home.store.read("chunks", partition)["is_current"].to_pylist().count(True)
        for partition in home.store.partitions("chunks")
    )


def test_every_state_of_a_reading_has_a_meaning():
    states = {
        value
        for name, value in vars(readings).items()
        if name.isupper() and isinstance(value, str) and value != "rules-v1"
    }
    assert states == set(READING_MEANINGS)


def test_every_finding_has_a_meaning():
    known = {value for name, value in vars(codes).items() if name.isupper()}

    assert known == set(MEANINGS)


def test_every_row_has_a_cell_for_every_column_and_columns_that_say_nothing_are_left_out(
    home, odd_home
):
    sections = [*make_sections(Present(home), ALL), *make_sections(Present(odd_home), ALL)]

    for section in sections:
        columns, rows = section.shown()
        whole = [section.kind.cells(row) for row in section.rows]
        assert all(len(cells) == len(section.kind.columns) for cells in whole)
        assert all(len(row) == len(columns) for row in rows)
        assert all(any(row[at] != "" for row in rows) for at in range(len(columns)))
    assert {kind.name for kind in OF_NOTES} <= {s.kind.name for s in sections if s.rows}
