"""Going back: which build answered before, finding one by name, and the command that does it."""

import json

import pytest
from click.testing import CliRunner

from kb_assets.build.publish import pin, unpin
from kb_core.errors import NotBuiltError, SettingsError, StoreError
from kb_serve.commands.publish import command
from resources.builds import Builds
from tests.publish_road import Road, copy_road, make_builds, remove


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    return root, make_builds(root)


@pytest.fixture
def road(made, tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _file: None)  # three times as quick
    return copy_road(*made, tmp_path)


def test_the_build_before_is_the_one_that_answered_before(road):
    for at in (0, 1, 2):
        road.last(at)

    assert road.builds.before() == road.names[1]
    pin(road.home, road.names[1])
    assert road.builds.before() == road.names[0]
    pin(road.home, road.names[0])
    assert road.builds.before() is None


def test_a_build_that_answers_again_has_the_other_one_before_it(road):
    road.last(0)
    road.last(1)
    pin(road.home, road.names[0])
    unpin(road.home)

    assert road.answers == 1
    assert road.builds.before() == road.names[0]


def test_half_a_build_is_gone_back_from_and_never_to(road):
    road.last(0)
    road.last(1, None, is_complete=False)

    assert road.builds.before() == road.names[0]
    road.last(2)
    assert road.builds.before() == road.names[0]


def test_a_build_that_is_not_kept_any_more_is_passed_over(road):
    for at in (0, 1, 2):
        road.last(at)
    remove(road, 1, "manifest")

    assert road.builds.before() == road.names[0]


def test_the_first_build_has_none_before_it_and_nothing_has_none_at_all(road):
    with pytest.raises(NotBuiltError):
        road.builds.before()
    road.last(0)
    assert road.builds.before() is None


def test_a_damaged_log_of_what_was_published_is_no_reason_to_stop(road):
    road.last(0)
    (road.home.data / "builds" / "published.log").write_bytes(b"\xff\xfe\x00 nonsense\n")

    assert road.last(1).is_moved
    assert road.builds.before() is None


def test_a_build_is_found_by_the_beginning_of_its_name(road):
    name = road.names[0]
    road.builds.write_scores(name, {})

    assert road.builds.find(name[:12]) == road.builds.find(name) == name
    for start in ("", "zz", "g" * 40):
        with pytest.raises(StoreError, match="No build begins"):
            road.builds.find(start)


def test_a_beginning_that_fits_several_builds_is_refused(tmp_path):
    builds = Builds(tmp_path)
    names = [builds.write({"number": number}) for number in range(20)]
    shared = next(a[0] for a in names if sum(b[0] == a[0] for b in names) > 1)

    with pytest.raises(StoreError, match=r"\d+ builds begin with"):
        builds.find(shared)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"x"', "\x00"])
def test_a_report_or_scores_that_cannot_be_read_are_as_good_as_none(tmp_path, text):
    builds = Builds(tmp_path)
    name = builds.write({})
    for kind in ("report", "scores"):
        (tmp_path / "builds" / f"{name}.{kind}.json").write_text(text)

    assert builds.report(name) == builds.scores(name) == {}
    assert builds.names() == [name]


def test_builds_are_listed_by_age_without_what_lies_beside_them(road):
    road.last(0)
    road.builds.write_scores(road.names[0], {"scores": {}})

    assert sorted(road.builds.by_age()) == sorted(road.names)


def kb_publish(road: Road, *options: str):
    told = CliRunner().invoke(command, [*options, "--home", str(road.home.root)])
    if isinstance(told.exception, Exception) and not isinstance(told.exception, SystemExit):
        raise told.exception
    return told


def test_the_command_needs_a_build_and_one_wish_at_a_time(road):
    road.home.write_record("last-build", {})

    for options in ((), ("--accept",), ("--unpin",), ("--rollback",), ("--list",)):
        with pytest.raises(NotBuiltError, match="kb build"):
            kb_publish(road, *options)
    for options in (("--rollback", "--unpin"), ("--to", "a"), ("--list", "--accept")):
        assert kb_publish(road, *options).exit_code == 2


def test_a_first_build_that_may_not_answer_is_told_as_such(road):
    name = road.names[0]
    road.home.write_record("last-build", {"build": name})
    manifest = road.builds.read(name)
    for folder in manifest["folders"].values():
        folder["artifacts"]["keyword_index"]["rows"] += 1
    road.home.write_record("last-build", {"build": road.builds.write(manifest)})

    told = kb_publish(road, "--json")

    values = json.loads(told.stdout)
    assert told.exit_code == 1
    assert values["current"] == ""
    assert "the keyword index holds" in values["problems"][0]


def test_going_back_and_letting_go_by_the_command(road):
    road.last(0)
    with pytest.raises(SettingsError, match="No build answered before"):
        kb_publish(road, "--rollback")
    road.last(1)

    back = json.loads(kb_publish(road, "--rollback", "--json").stdout)
    free = json.loads(kb_publish(road, "--unpin", "--json").stdout)
    chosen = json.loads(kb_publish(road, "--rollback", "--to", road.names[0][:9], "--json").stdout)

    assert (back["current"], back["pinned"]) == (road.names[0], road.names[0])
    assert (free["current"], free["pinned"]) == (road.names[1], "")
    assert chosen["pinned"] == road.names[0]
    listed = json.loads(kb_publish(road, "--list", "--json").stdout)["builds"]
    assert {row["build"]: row["is"] for row in listed} == {
        road.names[0]: "answers, pinned",
        road.names[1]: "last built",
        road.names[2]: "",
    }
