"""Incremental equals full: after any edits the tables are those of an empty store, byte for byte.

First one edit each, with what it may cost the folders that were not touched; then what the
machine below found; then the machine: edits, builds cut off, approvals, earlier versions, clocks
that go back, in any order. `python -m benchmarks.sequences` runs hundreds of its like.
"""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.incremental_edits import BESIDE, MOVING, WRITING, first_notes
from tests.incremental_home import EditedHome
from tests.incremental_vault import EditedVault, Note, Pick
from tests.standins.ollama_server import OllamaStandIn

_LINKS, _MENTIONS = "note_links", "note_mentions"
_HOUR, _DAY = 3_600, 86_400
# Every file is fsynced, which a disk takes its time for.
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - names are random


def first(options):
    return options[0]


@pytest.fixture
def root():
    with tempfile.TemporaryDirectory(dir=_MEMORY) as scratch:
        yield Path(scratch)


@pytest.fixture
def home(root):
    """A home over three folders, built: notes of People link and mention notes of Work."""
    vault = EditedVault(root / "vault")
    vault.write("Home.md", Note(lines=("Start at [[Harbour plan]].",)))
    vault.write("Work/Harbour plan.md", Note("Harbour plan", lines=("See [[Gone]].",)))
    vault.write("Work/Ferry log.md", Note(lines=("310 passengers.",)))
    vault.write("Work/Café.md", Note(lines=("Open until ten.",)))
    vault.write("People/Mara.md", Note(lines=("Mara and the East pier. [[Harbour plan]]",)))
    vault.write("People/Old.md", Note(lines=("The Ferry log was hers. [[Ferry log]], [[Lind]]",)))
    made = EditedHome(root / "home", vault)
    made.build(first)
    return made


def with_line(vault: EditedVault, path: str) -> None:
    note = vault.notes[path]
    vault.write(path, Note(note.heading, note.aliases, lines=(*note.lines, "One more.")))


def swap(vault: EditedVault) -> None:
    one, other = vault.notes["Work/Ferry log.md"], vault.notes["Work/Harbour plan.md"]
    vault.write("Work/Ferry log.md", other)
    vault.write("Work/Harbour plan.md", one)


# What happens in Work, and which tables of the folder People have to be made anew.
CASES = {
    "a text is edited": (lambda v: with_line(v, "Work/Ferry log.md"), set()),
    "front matter alone is edited": (
        lambda v: v.write("Work/Ferry log.md", Note(status="done", lines=("310 passengers.",))),
        set(),
    ),
    "a file is touched": (lambda v: v.touch("Work/Ferry log.md"), set()),
    "a note is spelled in the other Unicode form": (
        lambda v: v.spell_otherwise("Work/Café.md"),
        set(),
    ),
    "a note's text goes online": (lambda v: v.make_stub("Work/Ferry log.md"), set()),
    "a note becomes the target of a dangling link": (
        lambda v: v.write("Work/Lind.md", Note()),
        {_LINKS, _MENTIONS},
    ),
    "a note becomes the alias of a link, and a mention": (
        lambda v: v.write("Work/Ferry log.md", Note(aliases=("East pier", "Lind"))),
        {_LINKS, _MENTIONS},
    ),
    "a note gets a title that others mention": (
        lambda v: v.write("Work/Ferry log.md", Note("East pier", lines=("310 passengers.",))),
        {_MENTIONS},
    ),
    "a file that is no note comes": (lambda v: v.write_other("Work/a.png", b"1"), {_LINKS}),
    "two notes exchange what they say": (swap, {_MENTIONS}),
    "a note is copied": (
        lambda v: v.write("Work/Ferry log 1.md", v.notes["Work/Ferry log.md"]),
        {_LINKS, _MENTIONS},
    ),
    "a note is renamed": (
        lambda v: v.rename("Work/Ferry log.md", "Work/Lind.md"),
        {_LINKS, _MENTIONS},
    ),
    "a note is renamed by its capitals": (
        lambda v: v.rename("Work/Ferry log.md", "Work/ferry LOG.md"),
        {_LINKS, _MENTIONS},
    ),
    "a note moves to a new folder": (
        lambda v: v.rename("Work/Ferry log.md", "New/Ferry log.md"),
        {_LINKS, _MENTIONS},
    ),
    "a note is deleted": (lambda v: v.remove("Work/Ferry log.md"), {_LINKS, _MENTIONS}),
    "a folder is deleted": (lambda v: v.remove_folder("Work"), {_LINKS, _MENTIONS}),
}


@pytest.mark.parametrize(("edit", "anew"), CASES.values(), ids=CASES)
def test_an_edit_costs_other_folders_only_what_depends_on_it(home, root, edit, anew):
    before = home.marks()
    edit(home.vault)
    home.build(first)

    after = home.marks()
    people = next(key for key, path in home.home.folders().items() if path == "People")
    written = {
        table
        for table, part in before
        if part == people and before[table, part] != after[table, part]
    }
    assert written == anew
    assert home.differences(root / "full") == []


def test_only_the_texts_of_an_edit_are_embedded(root):
    with OllamaStandIn() as server:
        vault = EditedVault(root / "vault")
        for number in range(6):
            vault.write(f"Work/{number}.md", Note(lines=(f"Note {number}.",)))
        home = EditedHome(root / "home", vault, server)
        home.build(first)
        assert len(home.embedded) == 6

        with_line(vault, "Work/3.md")
        vault.rename("Work/4.md", "Home/4.md")
        home.build(first)
        assert len(home.embedded) == 7

        assert home.differences(root / "full") == []
        assert (len(home.embedded), home.counts["embedded_twice"]) == (7, 0)


def test_deleting_most_of_a_folder_is_asked_about_once_and_then_believed(home, root):
    home.vault.remove_folder("Work")
    home.build(first)
    assert (home.counts["asked"], home.counts["wrongly_asked"]) == (1, 0)

    home.build(first)
    assert home.counts["asked"] == 1
    assert home.differences(root / "full") == []


def test_moving_a_folder_is_no_loss(home, root):
    home.vault.rename_folder("Work", "Archive")
    home.build(first)

    assert (home.counts["asked"], home.counts["wrongly_asked"]) == (0, 0)
    assert home.differences(root / "full") == []


def test_moving_notes_is_no_loss_though_their_endings_get_capitals(home):
    home.vault.rename("Work/Ferry log.md", "Archive/Ferry log.MD")
    home.vault.rename("Work/Harbour plan.md", "Archive/Harbour plan.MD")
    home.build(first)

    assert (home.counts["asked"], home.counts["wrongly_asked"]) == (0, 0)


def test_a_deletion_counts_although_the_clock_was_set_back(home, root):
    home.wait(_DAY)
    with_line(home.vault, "Work/Ferry log.md")
    home.look_alone("Work")  # by the clock as it is, not by the start of a listing
    home.wait(-2 * _DAY)
    home.vault.remove("Work/Ferry log.md")
    home.build(first)

    assert not home.is_present("Work/Ferry log.md")
    assert home.differences(root / "full") == []


def test_a_vault_that_names_its_daily_notes_otherwise_is_dated_anew(home, root):
    home.vault.write("Work/05072024.md", Note(lines=("Rain.",)))
    home.build(first)
    home.vault.write_daily(b'{"format": "DDMMYYYY"}')
    home.build(first)
    dates = home.home.store.read_all("notes", ["note_id", "note_date"]).to_pylist()

    assert {"note_id": "Work/05072024.md", "note_date": "2024-07-05"} in dates
    assert home.differences(root / "full") == []


@pytest.mark.parametrize("number", [4, 9, 20])
@pytest.mark.parametrize("is_done", [False, True])
def test_a_listing_that_was_cut_off_goes_on(root, number, is_done):
    vault = EditedVault(root / "vault")
    first_notes(vault, first)
    vault.write("Work/Ferry log.md", Note(lines=("310 passengers.",)))
    home = EditedHome(root / "home", vault)
    home.cut_off_at(number, is_done=is_done, folders=())
    home.cut_off_at(number, is_done=is_done)
    with_line(vault, "Work/Ferry log.md")
    home.build(first)

    assert home.differences(root / "full") == []


def test_earlier_versions_that_come_later_are_built_as_if_they_had_been_there(home, root):
    home.tell_earlier(first)
    home.build(first)

    assert home.counts["told"] == 1
    assert home.differences(root / "full") == []


class Edits(RuleBasedStateMachine):
    """People edit, processes end, clocks go back; now and then everything is compared."""

    server: OllamaStandIn

    def __init__(self) -> None:
        super().__init__()
        self.scratch = tempfile.TemporaryDirectory(dir=_MEMORY)
        self.root = Path(self.scratch.name)
        self.compared = 0

    @initialize(data=st.data(), has_vectors=st.booleans())
    def begin(self, data, has_vectors):
        vault = EditedVault(self.root / "vault")
        first_notes(vault, by(data))
        server = self.server if has_vectors else None
        self.home = EditedHome(self.root / "home", vault, server)

    @rule(edit=st.sampled_from(WRITING), data=st.data())
    def write(self, edit, data):
        edit(self.home.vault, by(data))

    @rule(edit=st.sampled_from(MOVING), data=st.data())
    def move(self, edit, data):
        edit(self.home.vault, by(data))

    @rule(edit=st.sampled_from(BESIDE), data=st.data())
    def change_beside(self, edit, data):
        edit(self.home.vault, by(data))

    @rule(seconds=st.sampled_from((_HOUR, -2 * _HOUR, 3 * _DAY)))
    def wait(self, seconds):
        self.home.wait(seconds)

    @rule(data=st.data())
    def build(self, data):
        self.home.build(by(data))

    @rule(data=st.data())
    def cut_off(self, data):
        self.home.cut_off(by(data))

    @rule(data=st.data())
    def run_again(self, data):
        self.home.run_again(by(data))

    @rule(data=st.data())
    def tell_earlier(self, data):
        self.home.tell_earlier(by(data))

    @rule()
    def prune(self):
        self.home.prune()

    @rule()
    def compare(self):
        self.home.build(first)
        self.compared += 1
        assert self.home.differences(self.root / f"full{self.compared}") == []

    @invariant()
    def nothing_was_done_without_need(self):
        if hasattr(self, "home"):
            assert self.home.needless == []
            assert self.home.counts["embedded_twice"] == 0
            assert self.home.counts["wrongly_asked"] == 0

    def teardown(self):
        try:
            if hasattr(self, "home"):
                self.compare()
                self.nothing_was_done_without_need()
        finally:
            self.scratch.cleanup()


def by(data: st.DataObject) -> Pick:
    return lambda options: data.draw(st.sampled_from(options))


def test_any_edits_end_where_a_full_rebuild_ends():
    with OllamaStandIn() as server:
        machine = type("Machine", (Edits,), {"server": server})
        case = machine.TestCase
        case.settings = settings(
            max_examples=6,
            stateful_step_count=10,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        case("runTest").runTest()
