"""The maintenance example, really built: what may be handed over of what a machine hangs on."""

import datetime as dt
import subprocess
import sys

import pytest

from kb_core.errors import NotBuiltError
from kb_core.settings import read_settings
from kb_search.connecting import Asked, Connecting
from kb_search.engine import Engine
from kb_search.paths import Bounds
from kb_search.policy import policy_for
from resources.builds import Builds
from tests.built_home import build, open_home
from tests.kb_command import ROOT, kb_json, run_kb
from tests.small_vault import put
from tests.standins.permission_services import Service

RULES = """
[[folders]]
path = "Red"
tenant = "red"
[[folders]]
path = "Blue"
tenant = "blue"
[principals.red-reader]
tenants = ["red"]
[principals.blue-reader]
tenants = ["blue"]
[embedder]
engine = "none"
"""
RED = {
    "Red/P7.md": (
        "---\ntype: asset\ntitle: P7\naliases: [feed pump]\ndepends_on:\n  - '[[S1]]'\n"
        "  - '[[X]]'\nhas_manual: '[[D1]]'\navailable_at: 2026-03-01T00:00:00Z\n---\nThe pump P7.\n"
    ),
    "Red/S1.md": (
        "---\ntype: asset\ntitle: S1\nhas_manual: '[[D2]]'\nowner: Ann\n"
        "available_at: 2026-03-01T00:00:00Z\n---\nThe supply of P7.\n"
    ),
    "Red/D1.md": "---\ntype: document\navailable_at: 2026-03-01T02:00:00Z\n---\nPump manual.\n",
    "Red/D2.md": "---\ntype: document\navailable_at: 2026-03-01T08:00:00Z\n---\nSupply manual.\n",
}
BLUE = {
    "Blue/X.md": (
        "---\ntype: asset\ntitle: X\naliases: [feed pump]\nhas_manual: '[[D3]]'\n"
        "available_at: 2026-03-01T00:00:00Z\n---\nAnother's supply.\n"
    ),
    "Blue/D3.md": "---\ntype: document\navailable_at: 2026-03-01T01:00:00Z\n---\nSupply, blue.\n",
}
ASKED = Asked("P7", ("DEPENDS_ON",), 2, ("Asset",), ("HAS_MANUAL",))


def made(root, notes, rules=RULES):
    for path, text in notes.items():
        put(root / "vault", path, text)
    home = open_home(root / "home", root / "vault", rules)
    Builds(home.data).point_to(build(home, with_vectors=False))
    return home


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return made(tmp_path_factory.mktemp("machines"), RED | BLUE)


def at(hour):
    return dt.datetime(2026, 3, 1, hour, tzinfo=dt.UTC)


def ask(home, hour=9, who="red-reader", service=None, **how):
    engine = Engine.open(home.root, home.settings)
    engine._service = service
    asked = Asked(**(vars(ASKED) | how))
    return Connecting(engine, policy_for(home.settings, who, at(hour))).connected(asked)


def reached(answer):
    return [each["name"] for each in answer["reached"]]


@pytest.mark.parametrize(
    ("hour", "depth", "machines", "manuals"),
    [
        (6, 2, ["P7", "S1"], ["Red/D1.md"]),
        (6, 0, ["P7"], ["Red/D1.md"]),
        (9, 2, ["P7", "S1"], ["Red/D1.md", "Red/D2.md"]),
        (9, 0, ["P7"], ["Red/D1.md"]),
        (1, 2, ["P7", "S1"], []),
    ],
)
def test_the_manuals_of_then_and_of_one_s_own_are_eligible(home, hour, depth, machines, manuals):
    answer = ask(home, hour, depth=depth)

    assert reached(answer) == machines
    assert answer["eligible"] == manuals
    assert [each["note"] for each in answer["passages"]] == manuals
    assert answer["truncated"] == []


def test_what_another_has_is_in_no_part_of_the_answer(home):
    for start in ("P7", "S1", "feed pump", "D3", "Blue/X.md"):
        answer = ask(home, start=start, kinds=())
        assert "Blue" not in str({**answer, "asked": ""})


def test_the_answer_is_byte_for_byte_that_of_a_vault_without_the_other_tenant(home, tmp_path):
    alone = made(tmp_path, RED)

    for how in ({}, {"kinds": ()}, {"attach": ()}, {"start": "feed pump"}, {"start": "X"}):
        shown, absent = ask(home, **how), ask(alone, who="owner", **how)
        assert {**shown, "build": ""} == {**absent, "build": ""}


def test_whoever_may_read_both_goes_on_into_the_other(home):
    answer = ask(home, who="owner")

    assert sorted(reached(answer)) == ["P7", "S1", "X"]
    assert sorted(answer["eligible"]) == ["Blue/D3.md", "Red/D1.md", "Red/D2.md"]


def test_a_start_of_several_or_none_is_asked_back(home):
    both = ask(home, who="owner", start="feed pump")
    absent, closed = ask(home, start="Q9"), ask(home, start="Blue/X.md")

    assert sorted(note for each in both["candidates"] for note in each["notes"]) == [
        "Blue/X.md",
        "Red/P7.md",
    ]
    assert both["eligible"] == []
    assert {**absent, "asked": ""} == {**closed, "asked": ""}
    assert (absent["asked_back"], absent["candidates"], absent["start"]) == (True, [], None)


def test_the_trail_says_by_which_link_of_which_note(home):
    supply = ask(home)["reached"][1]
    (via,) = supply["via"]

    assert (via["source"], via["type"], via["target"]) == ("P7", "DEPENDS_ON", "S1")
    assert via["notes"] == ["Red/P7.md"]
    assert len(via["chunks"]) == 1


def test_a_budget_of_tokens_gives_each_note_a_passage_first_and_tells_what_it_cut(tmp_path):
    long = "\n".join(f"# Part {n}\n\n{'Turn the screw. ' * 300}\n" for n in range(6))
    manual = RED["Red/D1.md"] + long
    home = made(tmp_path, RED | {"Red/D1.md": manual})
    whole, cut = ask(home, most_tokens=10**6), ask(home, most_tokens=1500)

    assert {each["note"] for each in cut["passages"]} == {"Red/D1.md", "Red/D2.md"}
    assert sum(each["tokens"] for each in cut["passages"]) <= 1500
    assert cut["eligible"] == whole["eligible"]
    assert list({each["note"]: 0 for each in whole["passages"]}) == whole["eligible"]
    assert [each["note"] for each in whole["passages"]][-1] == "Red/D2.md"
    left = len(whole["passages"]) - len(cut["passages"])
    (told,) = cut["truncated"]
    assert (told["what"], told["left_out"], told["is_exact"]) == ("passages", left, True)
    refused = whole["passages"][1]["chunk_id"]
    kept = ask(home, most_tokens=10**6, service=Service(refused=(refused,)))["passages"]
    assert kept == [each for each in whole["passages"] if each["chunk_id"] != refused]


def test_what_the_permission_service_refuses_is_no_step_and_no_passage(home):
    service = Service(refused=("Red/D1.md",))
    manual = ask(home, service=service)
    supply = ask(home, service=Service(refused=("Red/S1.md",)))
    start = ask(home, service=Service(refused=("Red/P7.md",)))

    assert manual["eligible"] == ["Red/D2.md"]
    assert "D1" not in str(manual)
    assert len(service.asked) == len(set(service.asked)) == 4
    assert (reached(supply), supply["eligible"]) == (["P7"], ["Red/D1.md"])
    assert start["asked_back"]
    assert all(each["note"] == "" for each in (manual, supply, start))


def test_what_the_service_does_not_answer_for_is_withheld_and_said(home):
    answer = ask(home, service=Service(failing=("Red/D2.md",)))

    assert answer["eligible"] == ["Red/D1.md"]
    assert answer["note"] == "1 passage withheld: the permission service did not answer."


def test_a_link_type_or_property_that_is_excluded_leads_nowhere(home, tmp_path):
    text = (home.root / "kb.toml").read_text()
    for name in ("exclude_links", "exclude_properties"):
        (tmp_path / "kb.toml").write_text(f'{text}\n[policy]\n{name} = ["Depends on"]\n')
        settings = read_settings(tmp_path)
        engine = Engine.open(home.root, settings)
        answer = Connecting(engine, policy_for(settings, "owner", at(9))).connected(ASKED)
        assert (reached(answer), answer["eligible"]) == (["P7"], ["Red/D1.md"])
        assert "Types there are: HAS_MANUAL" in answer["note"]


def test_a_type_that_nothing_has_is_told_beside_those_there_are(home):
    answer = ask(home, who="owner", links=("FEEDS", "depends_on"))

    assert answer["note"].startswith("No link followed is called FEEDS. Types there are: ")
    assert ask(home, who="owner")["note"] == ""
    assert ask(home, who="owner", start="S1", kinds=(), links=("owner",))["note"] == ""
    # Where a service is asked, a type may be known from what it refuses alone.
    assert ask(home, who="owner", links=("FEEDS",), service=Service())["note"] == ""


def test_a_property_that_says_a_type_from_its_other_end_leads_to_what_it_names(tmp_path):
    notes = {"Plug.md": "---\nfeeds: '[[Lamp]]'\n---\nA plug.\n", "Lamp.md": "A lamp.\n"}
    home = made(tmp_path, notes)

    def reached(start, name):
        found = ask(home, who="owner", start=start, links=(name,), depth=1, kinds=(), attach=())
        return [each["name"] for each in found["reached"]]

    for name in ("feeds", "^DEPENDS_ON", "^depends_on"):
        assert reached("Plug", name) == ["Plug", "Lamp"]
        assert reached("Lamp", name) == ["Lamp"]
    for name in ("^feeds", "DEPENDS_ON"):
        assert reached("Lamp", name) == ["Lamp", "Plug"]


def test_without_types_it_is_told_which_lead_on(home):
    def told(**how):
        return ask(home, **{"links": (), "attach": (), **how})["note"]

    assert told() == "Links that lead on from here: DEPENDS_ON, HAS_MANUAL."
    assert told(start="D1", kinds=()) == "Links that lead on from here: ^HAS_MANUAL."
    assert told(start="S1") == "Links that lead on from here: HAS_MANUAL, OWNED_BY, ^DEPENDS_ON."
    assert told(start="Q9") == ""
    refusing = Service(refused=("Red/D1.md",))
    assert told(service=refusing, kinds=()) == "Links that lead on from here: DEPENDS_ON."
    alone = Service(refused=("Red/P7.md",))
    assert told(service=alone, start="D1", kinds=()) == "No link leads on from here."


def way(home, start, end, who="red-reader", hour=9, service=None):
    engine = Engine.open(home.root, home.settings)
    engine._service = service
    return Connecting(engine, policy_for(home.settings, who, at(hour))).path(start, end)


def test_the_way_between_two_things_says_what_joins_each_step(home):
    answer = way(home, "D1", "D2")
    names = [each["name"] for each in answer["hops"]]
    types = [{via["type"] for via in each["via"]} for each in answer["hops"]]

    assert names == ["P7", "S1", "D2"]
    assert [kind & {"HAS_MANUAL", "DEPENDS_ON"} for kind in types] == [
        {"HAS_MANUAL"},
        {"DEPENDS_ON"},
        {"HAS_MANUAL"},
    ]


def test_no_way_leads_through_what_is_closed_or_not_there_yet(home):
    assert [each["name"] for each in way(home, "D1", "D3", "owner")["hops"]] == ["P7", "X", "D3"]
    assert way(home, "D1", "D3")["to"]["asked_back"]
    assert way(home, "D1", "D3")["hops"] is None
    assert way(home, "D1", "D1")["hops"] == []
    refusing = Service(refused=("Red/P7.md",))
    assert way(home, "D1", "D2", service=refusing)["hops"] is None
    assert way(home, "P7", "D2", service=refusing)["from"]["asked_back"]


def test_a_build_without_links_of_types_says_what_to_do(home, monkeypatch):
    engine = Engine.open(home.root, home.settings)
    monkeypatch.setattr(engine, "knowledge", lambda view: None)

    with pytest.raises(NotBuiltError, match="kb build"):
        Connecting(engine)


def test_the_commands_print_stages_for_people_and_one_object_for_programs(home):
    where = ("--as", "red-reader", "--as-of", "2026-03-01T09:00:00Z", "--home", str(home.root))
    how = ("--links", "depends_on", "--depth", "2", "--attach", "has_manual", "--kinds", "asset")
    shown = run_kb("connected", "P7", *how, *where)
    answer = kb_json("connected", "P7", *how, *where)

    assert shown.returncode == 0, shown.stderr
    assert "1\tS1\tAsset\tRed/S1.md\tP7 DEPENDS_ON S1" in shown.stdout
    assert "    Supply manual." in shown.stdout
    assert answer["eligible"] == ["Red/D1.md", "Red/D2.md"]
    asked_back = run_kb("connected", "feed  pump", "--home", str(home.root))
    assert "2 things are called 'feed  pump'. Which one?" in asked_back.stdout
    between = run_kb("path", "D1", "D2", *where)
    assert "D1 and D2: 3 hops" in between.stdout


def test_an_answer_to_somebody_who_sees_less_loads_no_heavy_package(home):
    how = ["connected", "P7", "--links", "depends_on", "--as", "red-reader"]
    script = (
        "import sys; from kb_serve.cli import cli\n"
        f"cli({[*how, '--home', str(home.root)]!r}, standalone_mode=False)\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True, cwd=ROOT)

    assert not {"dagster", "pandas", "great_expectations"} & set(loaded.splitlines()[-1].split())


def test_bounds_are_told(home):
    answer = ask(home, bounds=Bounds(nodes=1))

    assert [each["what"] for each in answer["truncated"]] == ["nodes"]
