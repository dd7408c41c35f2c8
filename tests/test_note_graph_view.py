"""Names and links of a view are those of a vault that holds nothing else."""

import datetime as dt
import random

import pytest

from kb_search.build import PublishedBuild
from kb_search.note_graph_view import note_graph_of
from kb_search.policy import OWNER, Policy, Principal
from kb_search.view import View
from resources.builds import Builds
from tests.built_home import NOW, build, open_home
from tests.small_vault import put

RULES = """
[[folders]]
path = "Glass"
tenant = "glass"
[embedder]
engine = "none"
"""
MAIN = Principal("reader", frozenset({"main"}), frozenset({"reader"}))


def made(root, notes):
    for path, text in notes.items():
        put(root / "vault", path, text)
    home = open_home(root / "home", root / "vault", RULES)
    Builds(home.data).point_to(build(home, with_vectors=False))
    return home


def graph_in(home, policy, folders=None):
    opened = PublishedBuild.open(home.root)
    view = View.over(opened, folders, policy)
    found = note_graph_of(opened, view)
    return found.within(view.notes), opened


def said(home, policy, question="", folders=None):
    """Every edge, and whom a question names."""
    graph, _ = graph_in(home, policy, folders)
    edges = sorted(
        (note, graph.id_of(target))
        for number, note in graph.in_view()
        for target in graph.targets(number).tolist()
    )
    return edges, sorted(graph.id_of(each) for each in graph.named_in(question)[0])


def test_a_title_next_door_shadows_no_alias_of_ours(tmp_path):
    notes = {
        "Work/Dust box.md": "---\naliases: [Old Hoover]\n---\nIt sucks.\n",
        "Work/Day.md": "The Old Hoover was loud.\n",
        "Glass/Old Hoover.md": "Theirs.\n",
    }
    home = made(tmp_path, notes)

    edges, named = said(home, Policy(MAIN), "Where is the Old Hoover?")

    assert edges == [("Work/Day.md", "Work/Dust box.md")]
    assert named == ["Work/Dust box.md"]
    assert said(home, Policy(OWNER), "Where is the Old Hoover?")[1] == ["Glass/Old Hoover.md"]


def test_a_link_goes_to_the_best_note_one_may_see(tmp_path):
    notes = {
        "Kiln.md": "---\ntenant: glass\n---\nTheirs.\n",
        "Work/sub/Kiln.md": "Ours.\n",
        "Work/Day.md": "See [[Kiln]].\n",
    }
    home = made(tmp_path, notes)

    assert said(home, Policy(MAIN))[0] == [("Work/Day.md", "Work/sub/Kiln.md")]
    assert said(home, Policy(OWNER))[0] == [("Work/Day.md", "Kiln.md")]


def test_a_link_and_a_name_of_today_were_not_there_yesterday(tmp_path):
    home = made(
        tmp_path, {"Day.md": "Nothing yet.\n", "Kiln.md": "Hot.\n", "Gone.md": "x [[Kiln]]"}
    )
    put(tmp_path / "vault", "Day.md", "See [[Kiln]].\n")
    put(tmp_path / "vault", "Kiln.md", "---\naliases: [Big Oven]\n---\nHot.\n")
    (tmp_path / "vault" / "Gone.md").unlink()
    later = NOW + dt.timedelta(days=30)
    Builds(home.data).point_to(build(home, later, with_vectors=False))

    before = said(home, Policy(as_of=NOW + dt.timedelta(days=1)), "Where is the Big Oven?")
    after = said(home, Policy(as_of=later + dt.timedelta(days=1)), "Where is the Big Oven?")

    assert before == ([("Gone.md", "Kiln.md")], [])
    assert after == ([("Day.md", "Kiln.md")], ["Kiln.md"])


def test_what_stands_under_a_later_heading_is_not_said_yet(tmp_path):
    log = "---\ndate: 2024-01-01\n---\n### 2024-01-02\nOne.\n\n### 2024-06-02\nSee [[Kiln]].\n"
    home = made(tmp_path, {"Log.md": log, "Kiln.md": "---\ndate: 2023-01-01\n---\nHot.\n"})

    def edges(day):
        return said(home, Policy(as_of=dt.datetime.fromisoformat(f"{day}T12:00:00+00:00")))[0]

    assert edges("2024-05-01") == []
    assert edges("2024-07-01") == [("Log.md", "Kiln.md")]


def test_the_whole_present_vault_takes_what_the_build_wrote(tmp_path):
    home = made(tmp_path, {"Day.md": "See [[Kiln]].\n", "Kiln.md": "Hot.\n"})
    opened = PublishedBuild.open(home.root)

    assert note_graph_of(opened, View.over(opened)) is opened.note_graph


NAMES = ["Kiln", "Old Hoover", "Big Oven", "Tom Verrall", "Red Lamp"]


def random_notes(chance):
    notes = {}
    for number in range(chance.randint(4, 9)):
        folder = chance.choice(["Work/", "Glass/", "Work/sub/", ""])
        title = chance.choice([*NAMES, f"Note {number}"])
        aliases = chance.sample(NAMES, chance.randint(0, 2))
        body = " and ".join(
            chance.choice([f"[[{name}]]", f"{name}", f"[x]({name}.md)".replace(" ", "%20")])
            for name in chance.choices(NAMES, k=chance.randint(0, 4))
        )
        tenant = chance.choice(["", "tenant: glass\n", "tenant: main\n"])
        notes[f"{folder}{title}.md"] = f"---\naliases: {aliases}\n{tenant}---\nSay {body}.\n"
    return notes


@pytest.mark.parametrize("seed", range(6))
def test_a_view_has_the_edges_and_names_of_a_vault_without_the_rest(tmp_path, seed):
    chance = random.Random(seed)
    notes = random_notes(chance)
    home = made(tmp_path / "all", notes)
    _, opened = graph_in(home, Policy(MAIN))
    seen = set(View.over(opened, None, Policy(MAIN)).notes)
    alone = made(tmp_path / "alone", {path: text for path, text in notes.items() if path in seen})

    question = ", ".join(NAMES)
    assert said(home, Policy(MAIN), question) == said(alone, Policy(OWNER), question)
