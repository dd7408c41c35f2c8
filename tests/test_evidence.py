"""What the chunks of a view say: all that readable ones do, claims alone of remembered ones."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_search.build import PublishedBuild
from kb_search.evidence import MADE_FROM, OBSERVATIONS, evidence_of, evidence_of_files, is_whole
from kb_search.policy import Policy, Principal
from kb_search.view import View
from resources.builds import Builds
from tests.built_home import NOW, build, open_home
from tests.small_vault import put

LATER = NOW + dt.timedelta(days=30)
RULES = """
[[folders]]
path = "Next door"
tenant = "glass"
[egress]
allow = ["Work"]
[embedder]
engine = "none"
"""
FIRST = {
    "Work/Kiln.md": "---\nstatus: planned\ntype: Asset\nowner: Tom Ash\ndate: 2025-01-01\n---\n",
    "Work/Deep/Tank.md": "---\nstatus: leaking\ndate: 2025-01-01\n---\nA tank.\n",
    "Work/Pump.md": "---\nstatus: active\ndate: 2025-02-01\ndepends_on: '[[Kiln]]'\n---\nA pump.\n",
    "Work/Gone.md": "---\nstatus: draft\ndate: 2025-03-01\n---\nIt will go.\n",
    "Work/Emptied.md": "---\nstatus: draft\ndate: 2025-03-01\n---\nIt will be empty.\n",
    "Work/Closed.md": "---\nstatus: open\ndate: 2025-04-01\n---\nIt will be closed.\n",
    "Next door/Glass.md": "---\nstate: hot\nowner: Mara Lind\ndate: 2025-05-01\n---\nA kiln.\n",
}
SECOND = {
    "Work/Kiln.md": "---\nstatus: done\ndate: 2025-01-01\n---\nThe kiln.\n",
    "Work/Deep/Tank.md": "---\nstatus: mended\ndate: 2025-01-01\n---\nA tank.\n",
    "Work/Emptied.md": "",
    "Work/Closed.md": "---\nstatus: shut\ntenant: glass\ndate: 2025-04-01\n---\nIt is closed.\n",
}
KEY = ["version_id", "chunk_id"]
TABLES = dict(zip(("mentions", "links", "claims"), OBSERVATIONS, strict=True))
MAIN = Principal("reader", frozenset({"main"}), frozenset())
GLASS = Principal("neighbour", frozenset({"glass"}), frozenset())


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    root = tmp_path_factory.mktemp("evidence")
    vault = root / "vault"
    for path, text in FIRST.items():
        put(vault, path, text)
    home = open_home(root / "home", vault, RULES)
    build(home, with_vectors=False)
    for path, text in SECOND.items():
        put(vault, path, text)
    (vault / "Work/Gone.md").unlink()
    home.write_record("approved-deletions", dict.fromkeys(home.folders(), 9))
    name = build(home, LATER, with_vectors=False)
    Builds(home.data).point_to(name)
    return home, PublishedBuild.open(home.root)


def said(opened, folders=None, **policy):
    """Return the statuses that a policy's view states, by note, the remembered ones in brackets."""
    view = View.over(opened[1], folders, Policy(**policy))
    evidence = evidence_of(opened[1], view)
    rows = {(each.version_id, each.chunk_id): each for each in evidence.chunks}
    found = {}
    for claim in evidence.claims:
        row = rows[claim.version_id, claim.chunk_id]
        if claim.attribute == "status":
            value = claim.value if row.is_readable else f"({claim.value})"
            found.setdefault(row.note_id.rpartition("/")[2], []).append(value)
    return {note: sorted(values) for note, values in sorted(found.items())}


def test_older_versions_are_remembered_and_so_are_notes_that_are_gone_or_empty(opened):
    assert said(opened) == {
        "Closed.md": ["(open)", "shut"],
        "Emptied.md": ["(draft)"],
        "Glass.md": ["hot"],
        "Gone.md": ["(draft)"],
        "Kiln.md": ["(planned)", "done"],
        "Pump.md": ["active"],
        "Tank.md": ["(leaking)", "mended"],
    }


def test_who_closes_a_note_closes_what_it_said_before(opened):
    assert said(opened, principal=MAIN) == {
        "Emptied.md": ["(draft)"],
        "Gone.md": ["(draft)"],
        "Kiln.md": ["(planned)", "done"],
        "Pump.md": ["active"],
        "Tank.md": ["(leaking)", "mended"],
    }


def test_who_may_read_a_note_now_learns_nothing_it_said_while_it_was_closed_to_them(opened):
    assert said(opened, principal=GLASS) == {"Closed.md": ["shut"], "Glass.md": ["hot"]}


def test_before_an_edit_its_note_said_what_it_said_then(opened):
    then = said(opened, as_of=LATER - dt.timedelta(days=1))
    assert then["Kiln.md"] == ["planned"]
    assert then["Gone.md"] == ["draft"]
    assert said(opened, as_of=dt.datetime(2025, 1, 15, tzinfo=dt.UTC)) == {
        "Kiln.md": ["planned"],
        "Tank.md": ["leaking"],
    }


def test_on_the_day_of_the_edit_an_earlier_day_is_remembered(opened):
    now = said(opened, as_of=LATER + dt.timedelta(days=1))
    assert now == said(opened)


def test_remembered_chunks_give_claims_alone(opened):
    evidence = evidence_of(opened[1], View.over(opened[1]))
    readable = {(c.version_id, c.chunk_id) for c in evidence.chunks if c.is_readable}
    assert evidence.links
    assert "Tom Ash" not in repr(evidence)
    assert {(each.version_id, each.chunk_id) for each in evidence.links} <= readable
    assert {(each.version_id, each.chunk_id) for each in evidence.mentions} <= readable


def test_an_excluded_note_is_not_remembered_either(opened):
    assert "Kiln.md" not in said(opened, excluded_notes=("Work/Kiln.md",))
    assert "Gone.md" not in said(opened, excluded_notes=("*Gone*",))


def test_an_excluded_property_leaves_no_claim(opened):
    assert said(opened, excluded_properties=("Status",)) == {}


def test_a_property_is_left_out_by_the_name_the_note_gives_it(opened):
    everything = evidence_of(opened[1], View.over(opened[1]))
    names = {each.quote.partition(":")[0] for each in everything.claims}
    view = View.over(opened[1], policy=Policy(excluded_properties=("STATE",)))
    kept = {each.quote for each in evidence_of(opened[1], view).claims}
    assert "state" in names
    assert not [quote for quote in kept if quote.startswith("state")]
    assert [quote for quote in kept if quote.startswith("status")]


def test_an_excluded_link_leaves_no_name_of_what_it_named(opened):
    found = evidence_of(opened[1], View.over(opened[1]))
    assert [each for each in found.mentions if each.name == "Mara Lind"]
    for policy in (Policy(excluded_links=("OWNED*",)), Policy(excluded_properties=("owner",))):
        kept = evidence_of(opened[1], View.over(opened[1], policy=policy))
        assert "Mara Lind" not in repr(kept)


def test_an_excluded_link_type_or_its_property_leaves_no_link(opened):
    for policy in (
        Policy(excluded_links=("depends on",)),
        Policy(excluded_properties=("depends_on",)),
    ):
        kept = evidence_of(opened[1], View.over(opened[1], policy=policy)).links
        assert {each.type for each in kept} == {"OWNED_BY"}


def test_what_may_not_leave_is_not_remembered_elsewhere(opened):
    sent = said(opened, is_sent=True)
    assert sent == {
        "Closed.md": ["(open)", "shut"],
        "Gone.md": ["(draft)"],
        "Kiln.md": ["(planned)", "done"],
        "Pump.md": ["active"],
        "Tank.md": ["(leaking)", "mended"],
    }


def test_a_folder_alone_says_nothing_of_another(opened):
    assert said(opened, ["Next door"]) == {"Glass.md": ["hot"]}
    assert "Gone.md" in said(opened, ["Work"])
    assert said(opened, ["Work/Deep"]) == {"Tank.md": ["(leaking)", "mended"]}


def test_the_whole_present_is_what_the_build_itself_read(opened):
    home, found = opened
    mine = evidence_of(found, View.over(found))
    store = home.store
    theirs = evidence_of_files(
        {
            folder: {
                name: store.root / pointer.files["table"]
                for name in MADE_FROM
                if (pointer := store.pointer(name, folder))
            }
            for folder in store.partitions("chunks")
        }
    )
    for name in ("chunks", "mentions", "links", "claims"):
        assert sorted(map(repr, getattr(mine, name))) == sorted(map(repr, getattr(theirs, name)))


@pytest.mark.parametrize(
    "policy",
    [
        Policy(excluded_links=("x",)),
        Policy(excluded_properties=("x",)),
        Policy(excluded_notes=("Work/Kiln.md",)),
        Policy(principal=MAIN),
        Policy(as_of=LATER - dt.timedelta(days=1)),
        Policy(is_sent=True),
    ],
)
def test_only_the_whole_present_is_the_builds_own(opened, policy):
    assert is_whole(opened[1], View.over(opened[1]))
    assert not is_whole(opened[1], View.over(opened[1], policy=policy))


def test_a_folder_or_an_hour_before_the_last_edit_is_not_the_whole(opened):
    _, found = opened
    assert not is_whole(found, View.over(found, ["Work"]))
    early = View.over(found, now=int(NOW.timestamp() * 1e6) - 400 * 86_400 * 10**6)
    assert not is_whole(found, early)


def test_an_older_version_that_is_still_to_come_makes_another_whole(tmp_path):
    put(tmp_path / "vault", "Pump.md", "---\navailable_at: 2027-01-01\n---\nIt will be blue.\n")
    home = open_home(tmp_path / "home", tmp_path / "vault", RULES)
    build(home, with_vectors=False)
    put(tmp_path / "vault", "Pump.md", "---\navailable_at: 2026-01-01\n---\nIt is red.\n")
    Builds(home.data).point_to(build(home, LATER, with_vectors=False))
    found = PublishedBuild.open(home.root)
    now, then = (int(year * 365.25 * 86_400) * 10**6 for year in (2026.5 - 1970, 2028 - 1970))
    assert View.over(found, now=now).is_whole_present(found)
    assert not is_whole(found, View.over(found, now=now))
    assert is_whole(found, View.over(found, now=then))


def test_a_build_made_without_observations_says_nothing(opened):
    home, found = opened
    manifest = Builds(home.data).read(found.name)
    for folder in manifest["folders"].values():
        for name in ("mentions", "link_observations", "claim_observations"):
            del folder["artifacts"][name]
    old = PublishedBuild("old", manifest, home.store.root)
    assert evidence_of(old, View.over(old)) is None


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_rows_say_what_stands_in_them_and_nothing_else(opened, data):
    found = opened[1]
    masks = tuple(
        np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)
        for size in (len(folder.rows.docs) for folder in found.folders)
    )
    evidence = evidence_of(found, View(found.folders, masks, now=10**18))
    readable = {(row.version_id, row.chunk_id) for row in evidence.chunks if row.is_readable}
    every = {(row.version_id, row.chunk_id) for row in evidence.chunks}
    assert len(readable) == sum(int(mask.sum()) for mask in masks)
    for name, keys in (("mentions", readable), ("links", readable), ("claims", every)):
        table = TABLES[name]
        rows = [row for folder in found.folders for row in folder.table(table, KEY).to_pylist()]
        expected = sorted(
            (row["version_id"], row["chunk_id"])
            for row in rows
            if (row["version_id"], row["chunk_id"]) in keys
        )
        said = sorted((each.version_id, each.chunk_id) for each in getattr(evidence, name))
        assert said == expected
