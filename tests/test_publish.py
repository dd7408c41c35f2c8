"""Which build answers: the last good one, unless the user said otherwise."""

import pytest

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
from kb_assets.placeholders.listing import begin_listing
from kb_core.errors import NotBuiltError, StoreError
from resources.builds import Builds
from tests.built_home import NOW, open_home
from tests.publish_road import copy_road, make_builds, remove
from tests.small_vault import put


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    return root, make_builds(root)


@pytest.fixture
def road(made, tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _file: None)  # three times as quick
    return copy_road(*made, tmp_path)


def test_nothing_can_be_published_before_the_first_build(tmp_path):
    put(tmp_path / "vault", "Pier.md", "# Pier\n")
    home = open_home(tmp_path / "home", tmp_path / "vault")

    for judge in (run_published, unpin):
        with pytest.raises(NotBuiltError, match=r"no build yet\. Run `kb build`"):
            judge(home)
    assert (pinned(home), baseline(home)) == ("", "")


def test_a_first_build_that_could_read_no_folder_does_not_answer(tmp_path):
    put(tmp_path / "vault", "Pier.md", "# Pier\n")
    home = open_home(tmp_path / "home", tmp_path / "vault")
    begin_listing(home, NOW)
    build_stage.run_build(home)

    _, verdict = run_published(home)

    assert not verdict.is_moved
    assert "no folder could be read" in verdict.why_not
    with pytest.raises(NotBuiltError):
        Builds(home.data).current()


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
