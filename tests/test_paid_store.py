"""The file of paid answers and money: nothing paid is lost, and no damaged word is believed."""

import datetime as dt
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_core.errors import StoreError
from kb_core.ids import content_id
from kb_core.money import Tokens
from resources.ledger import NewRow
from resources.llm import CUT, Answer
from resources.paid_store import PaidStore

NOON = 1_937_000_000.0  # 2031-05-19 in UTC
DAY = 24 * 60 * 60
KEY, OTHER = content_id("a request"), content_id("another")
PARTS = [content_id(f"part {number}") for number in range(3)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "paid.sqlite"


@pytest.fixture
def store(path):
    with PaidStore(path, lambda: NOON) as opened:
        yield opened


def keep(store, key=KEY, parts=(KEY,), text="said", **other) -> None:
    given = Answer(text, other.get("stop", "done"), Tokens(3, 4, 1, 2), f'{{"raw": "{key}"}}')
    packed = b"".join(bytes.fromhex(part) for part in parts)
    with store.transaction():
        store.paid_answers.keep(bytes.fromhex(key), packed, "haiku", given)


def add(store, **other) -> int:
    row = NewRow("town", "triage", "p", "haiku", b"k" * 16, b"", "", 10, 40)._replace(**other)
    with store.transaction():
        return store.ledger.open(row, "owner", NOON, NOON)


def write(path, statement: str, *values) -> None:
    """Change a cell as a failing disk would."""
    with sqlite3.connect(path) as db:
        db.execute(statement, values)
    db.close()


def test_an_answer_is_found_by_each_part_and_by_another_process(path, store):
    keep(store, parts=PARTS, stop=CUT)

    with PaidStore(path) as other:
        found = other.answers([PARTS[2], OTHER, PARTS[0]])
        assert other.raw(KEY) == f'{{"raw": "{KEY}"}}'
        assert other.raw(OTHER) is None

    assert list(found) == [PARTS[2], PARTS[0]]
    assert found[PARTS[2]] == (KEY, 2, "said", CUT, "haiku")
    assert found[PARTS[0]].part == 0


def test_more_parts_than_sqlite_takes_at_once_are_found(store):
    parts = [content_id(str(number)) for number in range(1_203)]
    keep(store, parts=parts)

    found = store.answers(parts)

    assert [found[part].part for part in parts] == list(range(1_203))


def test_a_half_character_that_a_model_wrote_comes_back(store):
    keep(store, text="\ud83d and \u6e21")

    assert store.answers([KEY])[KEY].text == "\ud83d and \u6e21"


def test_the_first_answer_to_a_request_stays_and_the_latest_to_a_part_counts(store):
    keep(store, parts=PARTS, text="for all")
    keep(store, parts=PARTS, text="again")
    keep(store, key=PARTS[1], parts=[PARTS[1]], text="for one")

    found = store.answers(PARTS)

    assert [found[part].text for part in PARTS] == ["for all", "for one", "for all"]
    assert (found[PARTS[1]].key, found[PARTS[1]].part) == (PARTS[1], 0)


@pytest.mark.parametrize("change", ["text = x'00'", "raw = x'00'", "stop = 'cut'", "label = 'x'",
                                    "output = 5", "text = 7", "checksum = x''"])  # fmt: skip
def test_a_damaged_answer_is_no_answer_and_is_set_aside_not_deleted(path, store, change):
    keep(store)
    keep(store, key=OTHER, parts=[OTHER])
    write(path, f"UPDATE answers SET {change} WHERE key = ?", bytes.fromhex(KEY))  # noqa: S608

    assert list(store.answers([KEY, OTHER])) == [OTHER]
    assert store.damaged == 1
    assert store.raw(KEY) is None
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT key FROM damaged_answers").fetchall() == [(bytes.fromhex(KEY),)]
    db.close()
    keep(store, text="paid again")
    assert store.answers([KEY])[KEY].text == "paid again"


def test_a_part_that_points_elsewhere_is_not_believed(path, store):
    keep(store, parts=PARTS)
    keep(store, key=OTHER, parts=[OTHER])
    write(
        path,
        "UPDATE parts SET key = ? WHERE part = ?",
        bytes.fromhex(OTHER),
        bytes.fromhex(PARTS[0]),
    )
    write(path, "UPDATE parts SET number = 2 WHERE part = ?", bytes.fromhex(PARTS[1]))

    assert list(store.answers(PARTS)) == [PARTS[2]]


def test_only_the_owner_can_read_the_file_and_a_commit_survives_a_power_cut(path, store):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_four_that_open_a_new_file_at_once_all_can_use_it(path):
    keys = [content_id(str(number)) for number in range(4)]

    def use(key: str) -> None:
        with PaidStore(path) as store:
            keep(store, key=key, parts=[key])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, keys))

    with PaidStore(path) as store:
        assert list(store.answers(keys)) == keys


def test_a_file_that_is_none_is_named_with_what_to_do(path):
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)

    with pytest.raises(StoreError, match=r"paid\.sqlite cannot be used .* backup"):
        PaidStore(path)
    assert path.read_bytes() == b"no database at all" * 100


def test_a_file_of_another_version_is_left_alone(path):
    PaidStore(path).close()
    write(path, "UPDATE format SET number = 99")

    with pytest.raises(StoreError, match="another version"):
        PaidStore(path)


def test_what_is_undone_leaves_nothing_and_what_stands_around_it_stays(store):
    def fail(key: bytes, reason: str) -> None:
        with store.transaction():
            store.paid_answers.fail(key, reason)
            if reason != "first":
                raise ZeroDivisionError

    with store.transaction():
        fail(b"a" * 16, "first")
        with pytest.raises(ZeroDivisionError):
            fail(b"b" * 16, "second")
    with pytest.raises(ZeroDivisionError):
        fail(b"c" * 16, "third")

    assert store._db.execute("SELECT reason FROM failures").fetchall() == [("first",)]


def test_a_request_is_given_up_after_three_runs_until_somebody_wants_it_again(store):
    for times in range(3):
        assert store.failures([KEY, OTHER]) == {}, times
        with store.transaction():
            store.paid_answers.fail(bytes.fromhex(KEY), f"reason {times}")

    assert store.failures([OTHER, KEY]) == {KEY: "reason 2"}
    store.forget_failures([KEY])
    assert store.failures([KEY]) == {}


def test_an_answer_makes_the_failures_before_it_forgotten(store):
    def fail() -> None:
        with store.transaction():
            store.paid_answers.fail(bytes.fromhex(KEY), "reason")

    fail()
    fail()
    keep(store)
    fail()

    assert store.failures([KEY]) == {}


def test_decisions_are_kept_in_order_with_what_was_spent_on_them(store):
    first = store.approve(
        plan="p", folder="town", stage="triage", ceiling_nano=9, keys=[KEY], who="ana"
    )
    store.decline(plan="q", folder="town", stage="triage", who="ben")
    row = add(store, approval=first)
    with store.transaction():
        store.ledger.settle(row, Tokens(1, 1), 7)

    made = store.decisions()

    assert made[0] == (first, NOON, "approved", "p", "town", "triage", 9, "ana", 7)
    assert made[1][1:] == (NOON, "declined", "q", "town", "triage", 0, "ben", 0)
    assert store.made_decisions()[0].keys == {KEY}


def test_a_decision_can_not_be_changed_and_a_damaged_one_is_none(path, store):
    store.approve(plan="p", folder="town", stage="triage", ceiling_nano=9, keys=[KEY], who="ana")

    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        write(path, "UPDATE decisions SET ceiling = 1000")
    assert len(store.decisions()) == 1
    write(path, "DROP TRIGGER decisions_stay")
    write(path, "UPDATE decisions SET ceiling = 1000")
    assert store.decisions() == []


def test_a_row_counts_by_what_is_known_of_it(store):
    open_row, settled, lost, void = (add(store) for _ in range(4))
    with store.transaction():
        store.ledger.settle(settled, Tokens(5, 6), 33)
        store.ledger.lose(lost)
        store.ledger.void(void)

    assert [(row.state, row.billed_nano) for row in store.rows()] == [
        ("open", 0), ("settled", 33), ("lost", 0), ("void", 0),
    ]  # fmt: skip
    assert store.rows()[1].tokens == Tokens(5, 6)
    assert store.spent_since(NOON) == 40 + 33 + 10
    assert store.spent_since(NOON + 1) == 0
    assert [row.id for row in store.rows(plan="another")] == []
    assert open_row == store.rows(plan="p")[0].id


def test_an_answer_that_came_after_all_settles_a_lost_row(store):
    row = add(store)
    with store.transaction():
        store.ledger.lose(row)
        store.ledger.settle(row, Tokens(1, 1), 12)
        store.ledger.void(row)

    assert (store.rows()[0].state, store.spent_since(0)) == ("settled", 12)


def test_what_needed_no_approval_is_added_up_by_itself(store):
    add(store)
    add(store, approval="x")

    assert store.spent_since(NOON) == 80
    assert store.spent_since(NOON, auto_only=True) == 40


def test_totals_add_up_by_whatever_is_asked(store):
    for folder, stage, billed in (("a", "s", 1), ("a", "t", 2), ("b", "s", 4)):
        row = add(store, folder=folder, stage=stage)
        with store.transaction():
            store.ledger.settle(row, Tokens(1, 1), billed)
    with store.transaction():
        store.ledger.lose(add(store, folder="b", stage="s"))
        store.ledger.void(add(store, folder="b", stage="s"))

    assert store.totals(["folder"]) == [(("a",), 2, 20, 3, 0), (("b",), 2, 20, 4, 10)]
    assert store.totals(["stage", "model"])[0] == (("s", "haiku"), 3, 30, 5, 10)
    assert store.totals(["day"]) == [(("2031-05-19",), 4, 40, 7, 10)]
    assert store.totals([]) == [((), 4, 40, 7, 10)]


def test_totals_of_nothing_are_none(store):
    assert store.totals([]) == store.totals(["day"]) == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["open", "settle", "lose", "void"]),
        st.integers(0, 5),
        st.integers(0, 100),
        st.sampled_from(["", "x", "y"]),
        st.integers(0, 3 * DAY),
    ),
    max_size=15,
)


@settings(max_examples=20, deadline=None)
@given(STEPS)
def test_the_sums_that_are_kept_are_those_of_the_rows(steps):
    with TemporaryDirectory() as folder, PaidStore(Path(folder) / "paid.sqlite") as store:
        for step, row, amount, approval, later in steps:
            with store.transaction():
                if step == "open":
                    new = NewRow("t", "s", "p", "m", b"k" * 16, b"", approval, amount, 2 * amount)
                    store.ledger.open(new, "o", 0, NOON + 10 * later)
                elif step == "settle":
                    store.ledger.settle(row, Tokens(1, 1), amount)
                else:
                    getattr(store.ledger, step)(row)
        rows = store._db.execute("SELECT at, approval, counted FROM ledger").fetchall()

        for month in (5, 6):
            first, next_one = (
                dt.datetime(2031, each, 1, tzinfo=dt.UTC) for each in (month, month + 1)
            )
            inside = [row[2] for row in rows if first.timestamp() <= row[0] < next_one.timestamp()]
            assert store.ledger.spent_in_month(first.timestamp()) == sum(inside)
        for now in {
            NOON + DAY,
            NOON,
            *(row[0] + shift for row in rows for shift in (DAY, DAY + 1)),
        }:
            recent = [row[2] for row in rows if row[0] >= now - DAY and not row[1]]
            assert store.ledger.spent_in_day(now) == sum(recent)
        for name in ("x", "y"):
            assert store.ledger.spent_under(name) == sum(row[2] for row in rows if row[1] == name)
