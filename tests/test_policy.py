"""Who may read what, as of when: decided before anything is ranked, and never seen to be."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_core.errors import SettingsError
from kb_core.settings import Settings
from kb_search.engine import Engine
from kb_search.policy import OWNER, Policy, Principal, principal_named
from kb_search.versions import Version, versions_at
from kb_serve.asking_as import policy_of
from resources.builds import Builds
from tests.built_home import NOW, build, open_home
from tests.kb_command import kb_json
from tests.small_vault import put

RULES = """
[[folders]]
path = "Next door"
tenant = "glass"
[[folders]]
path = "Private"
readers = ["marit"]
private = true
[egress]
allow = ["Work", "Private"]
[principals.reader]
tenants = ["main"]
[principals.marit]
tenants = ["main"]
[principals.neighbour]
tenants = ["glass"]
[embedder]
engine = "none"
"""
NOTES = {
    "Work/Kiln.md": "The kiln in [[Plan]] is hot.\n",
    "Work/Later.md": "---\navailable_at: 2026-06-01\n---\nThe kiln of next summer.\n",
    "Next door/Glass kiln.md": "A kiln for glass. See [[Kiln]].\n",
    "Private/Plan.md": "The kiln will be sold.\n",
    "Archive/Old.md": "---\ndate: 2020-05-01\n---\nThe kiln was cold.\n",
}
MAIN = Principal("reader", frozenset({"main"}), frozenset({"reader"}))
MARIT = Principal("marit", frozenset({"main"}), frozenset({"marit"}))
NEIGHBOUR = Principal("neighbour", frozenset({"glass"}), frozenset())


def made(root, notes):
    for path, text in notes.items():
        put(root / "vault", path, text)
    home = open_home(root / "home", root / "vault", RULES)
    Builds(home.data).point_to(build(home, with_vectors=False))
    return home


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return made(tmp_path_factory.mktemp("policy"), NOTES)


def asked(home, policy, question="kiln", **how):
    engine = Engine.open(home.root, home.settings)
    return engine.search(question, variant="keyword+linked", policy=policy, **how)


def notes(home, policy, **how):
    return {found.note for found in asked(home, policy, **how).results}


def at(day):
    return dt.datetime.fromisoformat(f"{day}T12:00:00+00:00")


BUILT = dt.datetime(2026, 2, 1, tzinfo=dt.UTC)
PRESENT = set(NOTES) - {"Work/Later.md"}


@pytest.mark.parametrize(
    ("principal", "readable"),
    [
        (OWNER, PRESENT),
        (MAIN, {"Work/Kiln.md", "Archive/Old.md"}),
        (MARIT, {"Work/Kiln.md", "Archive/Old.md", "Private/Plan.md"}),
        (NEIGHBOUR, {"Next door/Glass kiln.md"}),
        (Principal("nobody", frozenset(), frozenset()), set()),
    ],
)
def test_everybody_finds_what_they_may_read_and_nothing_else(home, principal, readable):
    assert notes(home, Policy(principal, as_of=BUILT)) == readable


def test_what_is_available_later_is_absent_until_then(home):
    assert "Work/Later.md" not in notes(home, Policy(as_of=at("2026-05-31")))
    assert "Work/Later.md" in notes(home, Policy(as_of=at("2026-06-02")))


def test_as_of_a_day_before_the_first_listing_dated_notes_alone_are_there(home):
    assert notes(home, Policy(as_of=at("2021-01-01"))) == {"Archive/Old.md"}
    assert notes(home, Policy(as_of=at("2019-01-01"))) == set()


def test_what_goes_to_a_hosted_model_leaves_private_and_unlisted_notes_here(home):
    assert notes(home, Policy(as_of=BUILT, is_sent=True)) == {"Work/Kiln.md"}


def test_an_excluded_note_is_as_good_as_absent(home):
    policy = Policy(as_of=BUILT, excluded_notes=("Archive/*",))

    assert notes(home, policy) == PRESENT - {"Archive/Old.md"}


def test_a_forbidden_vault_s_answer_is_byte_for_byte_that_of_a_vault_without_it(home, tmp_path):
    alone = made(
        tmp_path, {path: text for path, text in NOTES.items() if "Work" in path or "Arch" in path}
    )

    for question in ("kiln", "what of the Kiln and the Plan?", "Glass kiln"):
        shown = asked(home, Policy(MAIN, as_of=BUILT), question).to_json()
        absent = asked(alone, Policy(OWNER, as_of=BUILT), question).to_json()
        assert {**shown, "build": ""} == {**absent, "build": ""}


def test_a_folder_one_may_not_see_is_unknown_like_one_that_does_not_exist(home):
    for folder in ("Private", "Nowhere"):
        with pytest.raises(
            SettingsError, match=rf"No folder '{folder}' in this build. It has: Archive, Work\.$"
        ):
            asked(home, Policy(MAIN, as_of=BUILT), folders=[folder])


def test_an_earlier_version_answers_for_its_time_and_a_deleted_note_until_it_went(tmp_path):
    home = made(tmp_path, {"Work/Price.md": "A kiln costs 100.\n", "Work/Gone.md": "kiln gone\n"})
    put(tmp_path / "vault", "Work/Price.md", "A kiln costs 120.\n")
    (tmp_path / "vault" / "Work/Gone.md").unlink()
    later = NOW + dt.timedelta(days=30)
    Builds(home.data).point_to(build(home, later, with_vectors=False))

    def quotes(instant):
        found = asked(home, Policy(as_of=instant)).results
        return sorted(each.best.quote for each in found)

    assert quotes(NOW + dt.timedelta(days=1)) == ["A kiln costs 100.", "kiln gone"]
    assert quotes(later + dt.timedelta(days=1)) == ["A kiln costs 120."]


def test_closing_a_note_closes_what_it_said_before(tmp_path):
    home = made(tmp_path, {"Work/Open.md": "kiln\n"})
    put(tmp_path / "vault", "Work/Open.md", "---\nreaders: [marit]\n---\nkiln\n")
    later = NOW + dt.timedelta(days=30)
    Builds(home.data).point_to(build(home, later, with_vectors=False))
    before = NOW + dt.timedelta(days=1)

    assert notes(home, Policy(OWNER, as_of=before)) == {"Work/Open.md"}
    assert notes(home, Policy(MAIN, as_of=before)) == set()
    assert notes(home, Policy(MARIT, as_of=before)) == {"Work/Open.md"}


def test_until_a_new_version_is_available_the_one_before_stands_now_and_as_of_now(
    tmp_path, monkeypatch
):
    home = made(tmp_path, {"Work/Price.md": "A kiln costs 100.\n"})
    later = "---\navailable_at: 2026-06-01\n---\nA kiln costs 120.\n"
    put(tmp_path / "vault", "Work/Price.md", later)
    Builds(home.data).point_to(build(home, NOW + dt.timedelta(days=30), with_vectors=False))
    engine = Engine.open(home.root, home.settings)

    def quotes(day, policy):
        monkeypatch.setattr("time.time_ns", lambda: int(at(day).timestamp() * 1e9))
        found = engine.search("kiln", variant="keyword", policy=policy).results
        return [each.best.quote for each in found]

    for day, price in (("2026-05-01", "100"), ("2026-06-02", "120")):
        assert quotes(day, Policy()) == [f"A kiln costs {price}."]
        assert quotes(day, Policy(as_of=at(day))) == [f"A kiln costs {price}."]


@pytest.mark.parametrize("is_emptied", [False, True])
def test_deleting_or_emptying_a_closed_note_opens_nothing_it_said_before(tmp_path, is_emptied):
    home = made(tmp_path, {"Work/Open.md": "kiln\n", "Work/Else.md": "kiln\n"})
    closed = "---\nreaders: [marit]\n---\nkiln\n"
    note = put(tmp_path / "vault", "Work/Open.md", closed)
    build(home, NOW + dt.timedelta(days=30), with_vectors=False)
    note.unlink()
    if is_emptied:
        put(tmp_path / "vault", "Work/Open.md", "---\nreaders: [marit]\n---\n")
    later = NOW + dt.timedelta(days=60)
    Builds(home.data).point_to(build(home, later, with_vectors=False))
    before = NOW + dt.timedelta(days=1)

    assert notes(home, Policy(MAIN, as_of=before)) == {"Work/Else.md"}
    assert notes(home, Policy(MARIT, as_of=before)) == {"Work/Else.md", "Work/Open.md"}


def test_time_alone_brings_what_was_announced(home, monkeypatch):
    engine = Engine.open(home.root, home.settings)
    now = [at("2026-05-01")]
    monkeypatch.setattr("time.time_ns", lambda: int(now[0].timestamp() * 1e9))

    def found():
        return {each.note for each in engine.search("kiln", variant="keyword").results}

    assert "Work/Later.md" not in found()
    now[0] = at("2026-06-02")
    assert "Work/Later.md" in found()


def test_the_owner_s_door_knows_principals_and_dates(home):
    settings = home.settings

    assert policy_of(settings) == Policy()
    assert policy_of(settings, "marit").principal.groups == {"marit"}
    assert policy_of(settings, None, "2024-03").as_of == dt.datetime(
        2024, 3, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC
    )
    assert policy_of(settings, None, "2024-03-14T10:00+01:00").as_of == dt.datetime(
        2024, 3, 14, 9, tzinfo=dt.UTC
    )
    with pytest.raises(SettingsError, match="is no date"):
        policy_of(settings, None, "last week")
    with pytest.raises(SettingsError, match="There are: marit, neighbour, owner, reader"):
        principal_named("red", settings)
    assert principal_named("owner", Settings()) is OWNER


TIMES = st.integers(0, 9)


@st.composite
def histories(draw):
    """One note's versions, and what stood at each moment: a journal of texts and absences."""
    events = [draw(st.sampled_from(["text", "absent", ""])) for _ in range(10)]
    seen = [(moment, event) for moment, event in enumerate(events) if event]
    versions = []
    for place, (moment, event) in enumerate(seen):
        if event == "text":
            until = seen[place + 1][0] if place + 1 < len(seen) else None
            free = max(0, moment + draw(st.integers(-2, 2)))
            number = len(versions) + 1
            versions.append(Version(f"v{number}", number, moment, until, free))
    return versions


@given(histories(), TIMES)
def test_the_version_that_stood_is_the_last_one_available_unless_the_note_was_gone(versions, now):
    chosen = versions_at([versions], now)
    expected = next((each for each in reversed(versions) if each.available_at <= now), None)
    seen = [each for each in versions if each.observed_at <= now]
    if expected and expected.observed_at <= now:
        end = seen[-1].observed_until  # of the newest version, whether it could be read or not
        if end is not None and end <= now:
            expected = None

    assert chosen == ({expected.version_id} if expected else set())


def test_the_command_answers_as_a_principal_and_as_of_a_day(home):
    def found(*options, status=0):
        return kb_json("search", "kiln", *options, "--home", str(home.root), status=status)

    as_reader = found("--as", "reader", "--as-of", "2026-02")
    assert {each["note"] for each in as_reader["results"]} == {"Work/Kiln.md", "Archive/Old.md"}
    assert "neighbour" in found("--as", "red", status=1)["message"]
    assert "no date" in found("--as-of", "soon", status=1)["message"]
