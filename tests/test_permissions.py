"""A permission service is asked right before anything is handed over, and it fails closed."""

import pytest

from kb_core.errors import SettingsError
from kb_core.settings import Settings
from kb_search.engine import Engine
from kb_search.policy import Policy, fold_name
from resources.permissions import Asked, open_service
from tests.kb_command import kb_json
from tests.permitted_home import CLOSED, NOTES, READER, found, made, rewritten, search
from tests.standins.permission_services import Service


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return made(tmp_path_factory.mktemp("permissions"))


def test_a_service_is_asked_about_every_passage_and_what_it_refuses_is_gone(home):
    service = Service(refused=("Work/Plan.md",))
    result = search(home, READER, service=service)

    assert {each.note for each in result.results} == set(NOTES) - {"Work/Plan.md"}
    assert [each.rank for each in result.results] == [1, 2, 3, 4]
    assert {(who, note) for who, note, _ in service.asked} == {("reader", note) for note in NOTES}
    assert result.note == ""
    assert "Plan" not in str(result.to_json())


def test_what_is_refused_leaves_no_gap(home):
    engine = Engine.open(home.root, home.settings)
    first = engine.search("kiln", variant="keyword", notes=2).results
    engine._service = Service(refused=tuple(each.note for each in first))
    after = engine.search("kiln", variant="keyword", notes=2).results

    assert len(after) == 2
    assert not {each.note for each in first} & {each.note for each in after}


def test_a_service_opens_nothing_that_the_rules_close(home, tmp_path):
    service = Service()

    assert "Work/Plan.md" not in found(home, READER, rewritten(home, tmp_path, CLOSED), service)
    assert "Work/Plan.md" not in {note for _, note, _ in service.asked}


@pytest.mark.parametrize(
    "service",
    [Service(failing=("Work/Plan.md",)), Service(answer="yes"), Service(answer=None)],
)
def test_no_answer_withholds_the_passage_and_says_how_many(home, service):
    result = search(home, READER, service=service)
    withheld = 1 if service.failing else 5

    assert {each.note for each in result.results} == set(NOTES) - {
        note for note in NOTES if not service.failing or note in service.failing
    }
    words = "1 passage" if withheld == 1 else "5 passages"
    assert result.note == f"{words} withheld: the permission service did not answer."


def test_a_service_that_hangs_holds_nothing_up_and_hands_nothing_over():
    asked = Asked(Service(hanging=("b.md",)), "reader", 0.1)

    assert asked.allowed([("a.md", "a"), ("b.md", "b"), ("c.md", "c")]) == {"a"}
    assert asked.allowed([("d.md", "d")]) == set()
    assert asked.unanswered == {"b", "c", "d"}


def test_a_service_is_named_in_kb_toml():
    named = "tests.standins.permission_services:refusing_plan"

    assert open_service("") is None
    assert not open_service(named).may_hand_over("reader", "Work/Plan.md", "1")
    assert Settings(policy={"service": named}).policy.service == named


@pytest.mark.parametrize("factory", ["broken", "absent", "Nothing"])
def test_a_service_that_cannot_be_opened_stops_every_answer(factory):
    with pytest.raises(SettingsError, match="permission service") as problem:
        open_service(f"tests.standins.permission_services:{factory}")

    assert "secret" not in str(problem.value)


@pytest.mark.parametrize("named", ["no colon", "a:b:c", "a.b:", "os:system('x')"])
def test_a_name_that_is_no_factory_is_no_setting(named):
    with pytest.raises(ValueError, match="service"):
        Settings(policy={"service": named})


def test_the_command_asks_the_service(home, tmp_path):
    named = "tests.standins.permission_services:refusing_plan"
    how = ("search", "kiln", "--as", "reader", "--variant", "keyword", "--home", str(home.root))
    answer = kb_json(*how, env={"KB_POLICY__SERVICE": named})

    assert {each["note"] for each in answer["results"]} == set(NOTES) - {"Work/Plan.md"}


def test_links_and_properties_are_left_out_by_patterns_without_regard_to_spelling():
    policy = Policy(excluded_links=("depends*",), excluded_properties=("Rumoured-by",))

    assert policy.excludes_link("DEPENDS_ON", "needs")
    assert policy.excludes_link("RELATED_TO", "Depends on")
    assert policy.excludes_link("RELATED_TO", "rumoured_by")
    assert not policy.excludes_link("OWNED_BY", "owner")
    assert policy.excludes_property("rumoured by")
    assert not Policy().excludes_property("rumoured by")
    assert fold_name(" Depends - on ") == "depends_on"
