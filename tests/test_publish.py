"""Which build answers: the last good one, unless the user said otherwise."""

import json
import shutil

import pytest
from click.testing import CliRunner

from kb_assets.build import run as build_stage
from kb_assets.build.publish import (
    accept,
    baseline,
    is_judged,
    is_refused,
    pin,
    pinned,
    run_published,
    unpin,
)
from kb_assets.build.regression import GATED
from kb_core.errors import NotBuiltError, SettingsError, StoreError
from kb_serve.commands.publish import command
from resources.builds import Builds
from resources.home import Home
from tests.built_home import build, open_home
from tests.small_vault import put

WANTED = ("hybrid", "vector", "keyword", "bm25s")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A home with three complete builds, none of them judged yet; tests take a copy."""
    root = tmp_path_factory.mktemp("made")
    home = open_home(root / "home", root / "vault")
    names = []
    for edit in ("first", "second", "third"):
        put(root / "vault", "Work/Pier.md", f"# Pier\n\nThe {edit} pier.\n")
        put(root / "vault", "Ferry.md", "# Ferry\n\nThe ferry.\n")
        names.append(build(home))
    return root, names


class Road:
    """A home in which builds follow each other, each with the scores a test gives it."""

    def __init__(self, home: Home, names: list[str]) -> None:
        self.home = home
        self.names = names
        self.builds = Builds(home.data)

    def last(self, at: int, score: float | None = 1.0, variant="hybrid", *, is_complete=True):
        """Make build `at` the last one, with these scores (None: not scored), and judge it."""
        name = self.names[at]
        evaluation = None if score is None else evaluated(score, variant)
        report = {"is_complete": int(is_complete), "evaluation": evaluation}
        self.builds.write_report(name, report)
        self.home.write_record("last-build", {"build": name})
        return run_published(self.home)[1]

    @property
    def answers(self) -> int:
        return self.names.index(self.builds.current())

    @property
    def baseline(self) -> int:
        return self.names.index(baseline(self.home))


def evaluated(score: float, variant: str):
    row = dict.fromkeys(GATED, score)
    return {
        "variant": variant,
        "figures": {},
        "questions": {f"q{n}": {"key": "k", **row} for n in range(10)},
    }


@pytest.fixture
def road(made, tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _file: None)  # three times as quick
    root, names = made
    shutil.copytree(root / "vault", tmp_path / "vault")
    shutil.copytree(root / "home", tmp_path / "home")
    return Road(open_home(tmp_path / "home", tmp_path / "vault"), names)


def test_nothing_can_be_published_before_the_first_build(tmp_path):
    put(tmp_path / "vault", "Pier.md", "# Pier\n")
    home = open_home(tmp_path / "home", tmp_path / "vault")

    for judge in (run_published, unpin):
        with pytest.raises(NotBuiltError, match=r"no build yet\. Run `kb build`"):
            judge(home)
    assert (pinned(home), baseline(home)) == ("", "")


def test_a_good_build_answers_and_is_what_later_ones_are_compared_with(road):
    verdict = road.last(0)

    assert (verdict.is_moved, verdict.why_not, verdict.problems) == (True, "", ())
    assert verdict.answers == road.names[0]
    assert (road.answers, road.baseline) == (0, 0)
    assert is_judged(road.home, road.names[0])


def test_judging_twice_moves_nothing(road):
    road.last(0)
    outcome, verdict = run_published(road.home)

    assert (outcome.is_cached, verdict.is_moved, verdict.why_not) == (True, False, "")


def test_a_build_whose_scores_fell_does_not_answer_and_says_why(road):
    road.last(0)
    verdict = road.last(1, 0.5)

    assert not verdict.is_moved
    assert "recall@10 of hybrid fell from 1.00 to 0.50" in verdict.why_not
    assert f"kb eval --build {road.names[1][:12]} --against {road.names[0][:12]}" in (
        verdict.what_now
    )
    assert (road.answers, road.baseline) == (0, 0)
    assert is_refused(road.home, road.names[1])
    assert not is_judged(road.home, road.names[1])


def test_a_small_fall_answers_and_is_the_next_yardstick(road):
    road.last(0)

    assert road.last(1, 0.96).why_not == ""
    assert (road.answers, road.baseline) == (1, 1)


def test_accepting_is_for_one_build_by_name(road):
    road.last(0)
    road.last(1, 0.5)
    _, verdict = accept(road.home, road.names[1])

    assert (verdict.why_not, road.answers, road.baseline) == ("", 1, 1)
    assert road.last(2, 0.2).problems


def test_a_gap_between_tables_cannot_be_accepted(road):
    road.last(0)
    name = road.names[1]
    road.home.write_record("last-build", {"build": name})
    folder = next(iter(road.builds.read(name)["folders"].values()))
    for artifact in ("notes", "chunks"):
        path = folder["artifacts"][artifact]["files"]["table"]
        (road.home.store.root / path).unlink()

    with pytest.raises(StoreError, match="is missing"):
        accept(road.home, name)
    assert road.answers == 0


def test_the_gate_can_be_switched_off(road, tmp_path):
    road.last(0)
    settings = '[embedder]\nengine = "none"\n[publish]\ngate = false\n'
    road.home = open_home(tmp_path / "home", tmp_path / "vault", settings)

    assert road.last(1, 0.1).why_not == ""
    assert (road.answers, road.baseline) == (1, 1)


def test_a_build_that_was_not_scored_answers_and_is_no_yardstick(road):
    road.last(0)

    assert road.last(1, None).why_not == ""
    assert (road.answers, road.baseline) == (1, 0)
    assert road.last(2, 0.5).problems


def test_half_a_build_answers_and_going_back_from_its_whole_goes_behind_it(road):
    road.last(0)
    assert road.last(1, None, is_complete=False).is_moved
    assert road.answers == 1

    verdict = road.last(2, 0.5)

    assert verdict.is_moved
    assert verdict.answers == road.names[0]
    assert road.answers == 0


def test_a_build_that_answered_unscored_is_left_when_its_scores_turn_out_to_have_fallen(road):
    road.last(0)
    road.last(1, None)

    verdict = road.last(1, 0.5)

    assert (verdict.is_moved, road.answers, road.baseline) == (True, 0, 0)
    assert road.builds.before() is None  # what fell is nothing to go back to


def test_another_whole_build_that_answers_is_not_left_for_the_one_that_fell(road):
    road.last(0)
    road.last(1, None)

    road.last(2, 0.5)

    assert road.answers == 1


@pytest.mark.parametrize("gone", ["manifest", "table"])
def test_there_is_no_going_back_to_a_baseline_whose_files_are_gone(road, gone):
    road.last(0)
    road.last(1, None, is_complete=False)
    remove(road, 0, gone)

    verdict = road.last(2, 0.5)

    assert verdict.problems
    assert (verdict.is_moved, road.answers) == (False, 1)
    assert road.home.record("last-publish")["build"] == road.names[2]


def remove(road: Road, at: int, what: str) -> None:
    """Delete a build's manifest, or a table that it alone holds."""
    if what == "manifest":
        (road.home.data / "builds" / f"{road.names[at]}.json").unlink()
        return
    others = {path for n, name in enumerate(road.names) if n != at for path in tables(road, name)}
    for path in tables(road, road.names[at]) - others:
        (road.home.store.root / path).unlink()


def tables(road: Road, name: str) -> set[str]:
    folders = road.builds.read(name)["folders"].values()
    return {folder["artifacts"]["chunks"]["files"]["table"] for folder in folders}


def test_an_hour_without_the_embedder_is_compared_with_nothing_and_is_no_yardstick(road):
    road.last(0, 1.0)

    assert road.last(1, 0.3, "keyword").why_not == ""

    assert (road.answers, road.baseline) == (1, 0)
    assert road.last(2, 0.5, "hybrid").problems


def test_a_better_variant_takes_over_the_yardstick(road):
    road.last(0, 0.4, "keyword")
    road.last(1, 0.9, "hybrid")

    assert road.baseline == 1


def test_a_yardstick_of_a_variant_nobody_asks_any_more_is_given_up(road):
    road.last(0, 1.0, "hybrid:k=20")
    road.last(1, 0.9, "keyword")

    assert road.baseline == 1


def test_a_pinned_build_goes_on_answering_while_new_ones_are_judged(road):
    road.last(0)
    road.last(1)
    pin(road.home, road.names[0])

    verdict = road.last(2)

    assert (road.answers, pinned(road.home)) == (0, road.names[0])
    assert (verdict.is_moved, road.baseline) == (False, 1)
    assert "kb publish --unpin" in verdict.why_not
    assert is_judged(road.home, road.names[2])


def test_a_pinned_build_is_not_left_for_one_that_fell(road):
    road.last(0)
    road.last(1, None, is_complete=False)
    pin(road.home, road.names[1])

    road.last(2, 0.5)

    assert road.answers == 1


def test_letting_go_of_the_pin_judges_the_last_build(road):
    road.last(0)
    road.last(1)
    pin(road.home, road.names[0])
    road.last(2)

    _, verdict = unpin(road.home)

    assert (verdict.is_moved, road.answers, road.baseline, pinned(road.home)) == (True, 2, 2, "")


def test_letting_go_does_not_publish_what_fell(road):
    road.last(0)
    pin(road.home, road.names[0])
    road.last(2, 0.5)

    _, verdict = unpin(road.home)

    assert verdict.problems
    assert road.answers == 0


@pytest.mark.parametrize("gone", ["manifest", "table"])
def test_a_build_whose_files_are_gone_cannot_be_pinned(road, gone):
    road.last(0)
    road.last(1)
    remove(road, 0, gone)

    with pytest.raises(StoreError, match="missing"):
        pin(road.home, road.names[0])
    assert (road.answers, pinned(road.home)) == (1, "")


def test_a_build_stays_fresh_until_something_moves(road):
    road.last(2)
    assert build_stage.is_fresh(road.home)

    road.home.write_record("pin", {"build": road.names[0]})

    assert not build_stage.is_fresh(road.home)


def test_what_was_kept_back_is_known_without_judging_again(road):
    road.last(0)
    road.last(2, 0.5)

    assert build_stage.was_refused(road.home)
    assert not build_stage.is_fresh(road.home)


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
