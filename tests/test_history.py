"""The journal: append-only, one start for a listing, and nothing lost when it is cut off."""

import datetime as dt

import pytest

from kb_core.errors import StoreError
from resources.history import History

NOW = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
LATER = NOW + dt.timedelta(hours=1)


@pytest.fixture
def history(tmp_path):
    return History(tmp_path / "history")


def row(note_id: str, content: bytes | None, at: dt.datetime = NOW) -> dict[str, object]:
    return {
        "note_id": note_id,
        "observed_at": at,
        "content_hash": None if content is None else content.hex(),
        "file_time": None,
        "is_first_listing": True,
        "content": content,
    }


def test_versions_come_back_by_note_and_time(history):
    history.append("p", [row("b.md", b"1"), row("a.md", b"2")])
    history.append("p", [row("a.md", b"3", LATER)])

    rows = history.read("p")

    assert rows["note_id"].to_pylist() == ["a.md", "a.md", "b.md"]
    assert rows["content"].to_pylist() == [b"2", b"3", b"1"]
    assert history.latest("p") == {"a.md": b"3".hex(), "b.md": b"1".hex()}


def test_a_note_that_is_gone_keeps_its_versions(history):
    history.append("p", [row("a.md", b"1")])
    history.append("p", [row("a.md", None, LATER)])

    assert history.latest("p") == {"a.md": None}
    assert history.read("p")["content"].to_pylist() == [b"1", None]


def test_an_interrupted_listing_goes_on_with_its_start(history):
    first = history.begin(NOW, ["a", "b"], drop_file_times=True)
    history.finish("a")

    resumed = history.begin(LATER, ["a", "b"], drop_file_times=False)

    assert first.is_first
    assert (resumed.started, resumed.drop_file_times, resumed.waiting) == (NOW, True, ("b",))


def test_a_finished_listing_is_followed_by_a_new_one(history):
    history.begin(NOW, ["a"], drop_file_times=False)
    history.finish("a")

    second = history.begin(LATER, ["a"], drop_file_times=False)

    assert (second.started, second.is_first) == (LATER, False)


def test_a_clock_set_back_never_reorders_versions(history):
    history.begin(LATER, ["a"], drop_file_times=False)
    history.finish("a")

    assert history.begin(NOW, ["a"], drop_file_times=False).started > LATER


def test_an_edit_between_two_tries_of_one_listing_is_a_version_of_its_own(history):
    history.append("p", [row("a.md", b"1")])
    history.append("p", [row("a.md", b"2")])

    rows = history.read("p")

    assert rows["content"].to_pylist() == [b"1", b"2"]
    assert rows["observed_at"].to_pylist()[1] > NOW


def test_the_state_changes_exactly_when_rows_are_added(history):
    empty = history.state("p")
    history.append("p", [])
    assert history.state("p") == empty
    history.append("p", [row("a.md", b"1")])
    assert history.state("p") != empty


def test_a_damaged_segment_never_advises_to_destroy_it(history):
    history.append("p", [row("a.md", b"1")])
    (segment,) = (history.root / "versions" / "p").iterdir()
    segment.write_bytes(b"PAR1 nonsense")

    with pytest.raises(StoreError, match="cannot be made anew: restore"):
        history.read("p")


@pytest.mark.parametrize("text", ["{", "[]", '"x"', "{}"])
def test_a_damaged_listing_is_never_taken_for_a_new_vault(history, text):
    history.begin(NOW, ["a"], drop_file_times=False)
    (history.root / "listing.json").write_text(text)

    with pytest.raises(StoreError, match="Restore"):
        history.listing()


def test_a_folder_left_for_later_still_has_its_first_look_ahead(history):
    history.begin(NOW, ["a", "b"], drop_file_times=False, only=["a"])
    history.finish("a")

    later = history.begin(LATER, ["a", "b", "new"], drop_file_times=False)

    assert (later.started, later.waiting) == (LATER, ("a", "b", "new"))
    assert later.is_first_look_at("b")
    assert not later.is_first_look_at("new")
    history.finish("b")
    assert not history.listing().is_first_look_at("b")


def test_what_was_left_for_a_day_is_not_dated_back(history):
    history.begin(NOW, ["a", "b"], drop_file_times=False)
    history.finish("a")
    tomorrow = NOW + dt.timedelta(days=1)

    assert history.listing().waits_for("b", LATER)
    assert not history.listing().waits_for("b", tomorrow)
    later = history.begin(tomorrow, ["a", "b"], drop_file_times=False)
    assert later.started == tomorrow
    assert later.is_first_look_at("b")
    assert not later.is_first_look_at("a")


def test_a_folder_that_failed_is_looked_at_anew_with_its_own_start(history):
    history.begin(NOW, ["a", "b"], drop_file_times=False)
    history.finish("a")
    history.skip("b")

    later = history.begin(LATER, ["a", "b"], drop_file_times=False)

    assert later.started == LATER
    assert later.is_first_look_at("b")
