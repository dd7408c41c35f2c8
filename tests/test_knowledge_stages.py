"""The stages that store what a vault says, and the view that reads it."""

import datetime as dt
import shutil

import pytest

from benchmarks.reading_stages import read_folder
from kb_assets.build.run import run_build
from kb_assets.chunks.run import run as cut
from kb_assets.entities.run import TABLES as ENTITY_TABLES
from kb_assets.entities.run import run as name_entities
from kb_assets.keyword_index.run import run as index
from kb_assets.knowledge.run import TABLES as KNOWLEDGE_TABLES
from kb_assets.knowledge.run import run as know
from kb_assets.lines import run as lines
from kb_assets.lines.plan import plan_lines
from kb_assets.notes.run import run as read
from kb_assets.workbench import Workbench
from kb_core.contracts import CONTRACTS
from kb_knowledge.records import CURRENT, SUPERSEDED
from kb_search.build import PublishedBuild
from kb_search.engine import Engine
from kb_search.knowledge_graph import KnowledgeGraph
from kb_search.knowledge_view import knowledge_of_view
from kb_search.policy import Policy, Principal
from kb_search.view import View
from resources.builds import Builds
from tests.built_home import NOW, build, look_at, open_home
from tests.small_vault import put
from tests.standins.hash_embedder import HashEmbedder

RULES = """
[[folders]]
path = "Next door"
tenant = "glass"
[embedder]
engine = "none"
"""
NOTES = {
    "Work/Kiln.md": "---\nstatus: planned\ndate: 2025-01-01\n---\nThe kiln.\n",
    "Work/Pump.md": "---\nstatus: active\ndate: 2025-02-01\ndepends_on: '[[Kiln]]'\n---\nA pump.\n",
    "Plans/Yard.md": "---\ndate: 2025-02-01\ndepends_on: '[[Pump]]'\nowner: Mara Lind\n---\nYard.",
    "Next door/Glass.md": "---\nstatus: hot\ndepends_on: '[[Kiln]]'\n---\nA glass kiln.\n",
}
MAIN = Principal("reader", frozenset({"main"}), frozenset())
STORED = (*ENTITY_TABLES, *KNOWLEDGE_TABLES)


def made(root, notes=NOTES):
    for path, text in notes.items():
        put(root / "vault", path, text)
    return open_home(root / "home", root / "vault", RULES)


def published(home, name):
    Builds(home.data).point_to(name)
    return PublishedBuild.open(home.root)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = made(tmp_path_factory.mktemp("knowledge"))
    published(home, build(home))
    return home


@pytest.fixture
def own(home, tmp_path):
    """Return a home of the test's own."""
    shutil.copytree(home.root.parent, tmp_path / "copy")
    return open_home(tmp_path / "copy" / "home", tmp_path / "copy" / "vault", RULES)


def everything(graph):
    return (
        [graph.entity(n) for n in range(graph.size)],
        [graph.line(n) for n in range(graph.line_count)],
        [graph.related(n) for n in range(graph.line_count)],
    )


def statuses(graph, name):
    (entity,) = graph.named(name)
    claims = [graph.line(n).claim for n in graph.claims_of(entity, {"status"})]
    return sorted((claim.value, claim.state) for claim in claims)


def test_the_setting_says_what_a_hub_is_in_the_build_and_in_a_narrower_view(tmp_path):
    notes = {f"Work/{number}.md": "---\nowner: Mara Lind\n---\nText.\n" for number in range(5)}
    for path, text in notes.items():
        put(tmp_path / "vault", path, text)
    for given, is_hub in ((0, False), (4, True), (5, False)):
        rules = f'[graph]\nhub_chunks = {given}\n[embedder]\nengine = "none"\n'
        home = open_home(tmp_path / "home", tmp_path / "vault", rules)
        Builds(home.data).point_to(build(home, with_vectors=False))
        engine = Engine.open(home.root, home.settings)
        for policy in (Policy(), Policy(as_of=NOW + dt.timedelta(days=1))):
            graph = engine.knowledge(engine.view(None, policy))
            (mara,) = graph.named("Mara Lind")
            assert graph.entity(mara).is_hub == is_hub


def test_a_build_holds_what_its_vault_says(home):
    graph = PublishedBuild.open(home.root).knowledge
    (pump,) = graph.named("Pump")
    (kiln,) = graph.named("Kiln")
    (yard,) = graph.named("Yard")
    links = graph.links_of(pump, {"DEPENDS_ON"})
    assert {each[1:] for each in links} == {(kiln, True), (yard, False)}
    assert statuses(graph, "Kiln") == [("planned", CURRENT)]


def test_every_table_keeps_its_contract_and_stands_in_the_build(home):
    artifacts = Builds(home.data).read(Builds(home.data).current())["vault"]["artifacts"]
    for name in STORED:
        table = CONTRACTS[name].check(home.store.read(name))
        assert artifacts[name]["rows"] == table.num_rows
        assert table.num_rows or name in ("claim_relations", "merge_ledger")
    assert artifacts["knowledge_graph"]["rows"] == (
        home.store.read("links").num_rows + home.store.read("claims").num_rows
    )


def test_a_second_run_does_nothing(own):
    assert [stage(own).is_cached for stage in (name_entities, know)] == [True, True]


def test_the_stages_need_not_run_together(own):
    before = {name: own.store.pointer(name).hash for name in (*STORED, "knowledge_graph")}
    for name in (*STORED, "knowledge_graph"):
        own.store.forget(name, "all")
    know(own)
    name_entities(own)
    assert {name: own.store.pointer(name).hash for name in before} == before


def test_after_an_edit_the_old_value_is_superseded(own):
    put(own.vault_path, "Work/Kiln.md", NOTES["Work/Kiln.md"].replace("planned", "done"))
    name = build(own, NOW + dt.timedelta(days=9))
    graph = published(own, name).knowledge
    assert statuses(graph, "Kiln") == [("done", CURRENT), ("planned", SUPERSEDED)]


def test_edits_step_by_step_give_the_bytes_of_a_build_in_one_go(own, tmp_path):
    put(own.vault_path, "Work/Kiln.md", NOTES["Work/Kiln.md"].replace("planned", "done"))
    put(own.vault_path, "Plans/New.md", "---\nstatus: active\n---\nNew.\n")
    build(own, NOW + dt.timedelta(days=1))
    (own.vault_path / "Plans/New.md").unlink()
    build(own, NOW + dt.timedelta(days=2))
    fresh = open_home(tmp_path / "fresh", own.vault_path, RULES)
    shutil.copytree(own.data / "history", fresh.data / "history", dirs_exist_ok=True)
    build(fresh, NOW + dt.timedelta(days=2))
    for name in (*STORED, "knowledge_graph"):
        assert fresh.store.pointer(name) == own.store.pointer(name)


def test_the_whole_present_is_read_from_the_build(home):
    found = PublishedBuild.open(home.root)
    assert knowledge_of_view(found, View.over(found)) is found.knowledge


def test_what_is_read_from_the_build_is_what_the_view_would_say(home):
    found = PublishedBuild.open(home.root)
    manifest = Builds(home.data).read(found.name)
    del manifest["vault"]["artifacts"]["knowledge_graph"]
    without = PublishedBuild("without", manifest, home.store.root)
    anew = knowledge_of_view(without, View.over(without))
    assert everything(anew) == everything(found.knowledge)


def test_a_narrower_view_says_what_a_vault_of_its_notes_alone_would(home, tmp_path):
    found = PublishedBuild.open(home.root)
    mine = knowledge_of_view(found, View.over(found, policy=Policy(principal=MAIN)))
    alone = made(tmp_path, {path: text for path, text in NOTES.items() if "Next" not in path})
    theirs = published(alone, build(alone)).knowledge
    names = [[graph.entity(n).name for n in range(graph.size)] for graph in (mine, theirs)]
    assert names[0] == names[1]
    assert "Glass" not in names[0]
    assert [mine.line(n).core for n in range(mine.line_count)] == [
        theirs.line(n).core for n in range(theirs.line_count)
    ]


def test_before_a_note_was_written_nothing_is_known_of_it(home):
    found = PublishedBuild.open(home.root)
    early = Policy(as_of=dt.datetime(2025, 1, 20, tzinfo=dt.UTC))
    graph = knowledge_of_view(found, View.over(found, policy=early))
    assert graph.named("Kiln")
    assert not graph.named("Pump")


def test_a_build_made_before_there_was_knowledge_says_so(home):
    manifest = Builds(home.data).read(Builds(home.data).current())
    for folder in manifest["folders"].values():
        for name in ("mentions", "link_observations", "claim_observations"):
            del folder["artifacts"][name]
    manifest["vault"]["artifacts"] = {}
    old = PublishedBuild("old", manifest, home.store.root)
    assert knowledge_of_view(old, View.over(old)) is None
    assert old.line_vectors is None


def test_knowledge_of_other_chunks_is_left_out_and_made_anew_by_the_view(own):
    put(own.vault_path, "Work/Kiln.md", NOTES["Work/Kiln.md"].replace("planned", "done"))
    look_at(own, NOW + dt.timedelta(days=9))
    for partition in sorted(own.folders()):
        for stage in (read, cut, index):
            stage(own, partition)
        read_folder(Workbench(own), partition)
    found = published(own, run_build(own).hash)
    assert found.knowledge is None
    graph = knowledge_of_view(found, View.over(found))
    assert statuses(graph, "Kiln") == [("done", CURRENT), ("planned", SUPERSEDED)]


@pytest.fixture
def embedder(monkeypatch):
    found = HashEmbedder()
    monkeypatch.setattr("kb_assets.embedder_choice.open_embedder", lambda _settings: found)
    return found


def test_every_line_gets_a_vector_that_is_found_by_what_it_says(own, embedder):
    outcome, why = lines.run(Workbench(own))
    found = published(own, run_build(own).hash)
    cores = list(found.knowledge.cores())
    rows, has_vector = found.line_vectors.of([*cores, "something else"])
    assert why == ""
    assert has_vector.tolist() == [True] * len(cores) + [False]
    assert (rows[0] == embedder.embed_passages([cores[0]])[0]).all()
    assert found.line_vectors.profile == embedder.profile.key()
    assert outcome.rows == found.line_vectors.size == len(set(cores))


def test_no_line_is_embedded_twice(own, embedder):
    lines.run(Workbench(own))
    embedder.batches.clear()
    assert lines.is_fresh(own, embedder)
    assert lines.run(Workbench(own))[0].is_cached
    put(own.vault_path, "Work/Pump.md", NOTES["Work/Pump.md"].replace("active", "broken"))
    build(own, NOW + dt.timedelta(days=9), with_vectors=False)
    assert not lines.is_fresh(own, embedder)
    lines.run(Workbench(own))
    assert [text for batch in embedder.batches for text in batch] == ["Pump status: broken"]


def test_a_time_box_leaves_lines_pending_and_the_next_run_goes_on(own, embedder):
    ticks = iter([False, True])
    outcome, why = lines.run(Workbench(own, is_time_up=lambda: next(ticks)))
    assert outcome.counts["embedded"] == 4
    assert outcome.counts["pending"] > 0
    assert "wait for the next run" in why
    assert not lines.is_finished(own)
    outcome, why = lines.run(Workbench(own))
    assert (outcome.counts["pending"], why) == (0, "")
    assert lines.is_finished(own)


def test_without_an_embedder_there_is_nothing_to_do_and_all_is_pending(own):
    outcome, why = lines.run(Workbench(own))
    assert outcome.counts["pending"] == own.store.pointer("knowledge_graph").rows
    assert "none" in why
    assert lines.is_fresh(own, None)


def test_what_stays_on_this_machine_is_in_no_line_that_is_sent(home, embedder):
    graph = PublishedBuild.open(home.root).knowledge
    everything = plan_lines(graph, embedder.profile)
    open_ones = plan_lines(graph, embedder.profile, frozenset({"Work/Kiln.md"}))
    assert any("Kiln" in text for text in everything.texts.values())
    assert open_ones.texts
    assert not any("Kiln" in text for text in open_ones.texts.values())


def test_the_present_is_embedded_before_the_past(own, embedder):
    put(own.vault_path, "Work/Kiln.md", NOTES["Work/Kiln.md"].replace("planned", "done"))
    build(own, NOW + dt.timedelta(days=9))
    graph: KnowledgeGraph = published(own, run_build(own).hash).knowledge
    assert list(plan_lines(graph, embedder.profile).texts.values())[-1] == "Kiln status: planned"
