"""Asking a real build through the graph: notes of structured headers, a log, and two tenants."""

import json

import pytest

from kb_core.errors import SettingsError
from kb_core.settings import read_settings
from kb_search.build import PublishedBuild
from kb_search.engine import Engine
from kb_search.explained import explained
from kb_search.graph_search import GraphScope, Way
from kb_search.hybrid import QueryVector, rank
from kb_search.line_gate import may_be_shown
from kb_search.policy import Policy, Principal
from kb_search.signals import SignalReader
from kb_search.view import View
from resources.builds import Builds
from tests.built_home import build, open_home
from tests.kb_command import run_kb
from tests.small_vault import put
from tests.standins.hash_embedder import HashEmbedder
from tests.standins.small_build import MadeChunk, publish

SETTINGS = """
[embedder]
engine = "none"

[[folders]]
path = "Closed"
tenant = "other"
"""
NOTES = {
    "Plans/Old pier.md": "Plan: 1\nTitle: Old pier\nStatus: Superseded\nSuperseded-By: 2\n",
    "Plans/New pier.md": (
        "Plan: 2\nTitle: New pier\nStatus: Final\nReplaces: 1\nAuthor: East Office\n"
    ),
    "Plans/Lock gate.md": "Plan: 3\nTitle: Lock gate\nStatus: Withdrawn\nAuthor: East Office\n",
    "Plans/Stone quay.md": "Plan: 4\nTitle: Stone quay\nStatus: Final\nRequires: 2\n",
    "Closed/Secret pier.md": "Plan: 5\nTitle: Secret pier\nStatus: Draft\nReplaces: 2\n",
}
LOG = (
    "# Changes\n\n"
    "- 2019-02-01: [[Stone quay]] entered as Draft.\n"
    "- 2021-03-04: [[Stone quay]] moved from Draft to Final.\n"
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    at = tmp_path_factory.mktemp("graph")
    for path, header in NOTES.items():
        title = path.rpartition("/")[2].removesuffix(".md")
        number = header.split("\n")[0].removeprefix("Plan: ")
        front = f'---\ntitle: "Plan {number} - {title}"\n---\n\n# {title}\n\n'
        put(at / "vault", path, f"{front}{header}\n\nThe words of {title}.\n")
    put(at / "vault", "Log/2021.md", LOG)
    home = open_home(at / "home", at / "vault", SETTINGS)
    Builds(home.data).publish(build(home, with_vectors=False))
    return home.root


@pytest.fixture(scope="module")
def engine(root):
    return Engine.open(root, read_settings(root))


def notes(found) -> list[str]:
    return [row.note.rpartition("/")[2].removesuffix(".md") for row in found.results]


def ask(engine, question: str, variant: str = "keyword+graph", **more):
    return engine.search(question, variant=variant, **more)


OWN = Policy(Principal("reader", frozenset({"main"}), frozenset()))


def test_what_replaced_something_goes_first_and_the_base_ranking_follows(engine):
    question = "Is “Old pier” still in force?"
    found = ask(engine, question, policy=OWN)
    base = ask(engine, question, "keyword", policy=OWN)
    assert notes(found)[:2] == ["New pier", "Old pier"]
    rest = [note for note in notes(base) if note not in notes(found)[:2]]
    assert notes(found)[2:] == rest


def test_another_tenants_note_is_never_a_step(engine):
    question = "Is “New pier” still in force, or what stands in its place?"
    assert "Secret pier" not in notes(ask(engine, question, policy=OWN))
    text = json.dumps(explained(ask(engine, question, policy=OWN)))
    assert "Secret" not in text


def test_a_number_of_another_tenant_is_a_number_that_nothing_has(engine):
    question = "What does plan 5 say about the pier?"
    closed, absent = (
        ask(engine, question.replace("5", number), policy=OWN) for number in ("5", "77")
    )
    assert (closed.decision.behaviour, absent.decision.behaviour) == ("refuse", "refuse")
    assert closed.decision.reason.replace("5", "N") == absent.decision.reason.replace("77", "N")


def test_the_state_on_a_day_is_read_from_the_log(engine):
    found = ask(engine, "What was the status of “Stone quay” on 2020-05-05?", policy=OWN)
    assert found.results[0].note == "Log/2021.md"
    line = next(kept for kept in found.lines if kept.is_implied)
    assert (line.line.claim.value, line.line.claim.valid_from) == ("Draft", "2019-02-01")
    assert not line.is_past  # on that day it was so


def test_a_state_picks_from_what_an_author_wrote(engine):
    found = ask(engine, "Which of East Office's proposals were withdrawn?", policy=OWN)
    assert notes(found)[0] == "Lock gate"


def test_the_router_leaves_other_questions_to_the_base_ranking(engine):
    question = "words of the gate"
    assert notes(ask(engine, question)) == notes(ask(engine, question, "keyword"))


def test_a_link_puts_both_its_ends_first(engine):
    found = ask(engine, "What does “Stone quay” depend on?", policy=OWN)
    assert set(notes(found)[:2]) == {"Stone quay", "New pier"}


def test_the_same_question_gives_the_same_answer(engine, root):
    question = "Who wrote the plan that replaced “Old pier”?"
    other = Engine.open(root, read_settings(root))
    assert ask(engine, question).to_json() == ask(other, question).to_json()
    assert explained(ask(engine, question)) == explained(ask(other, question))


class Closed:
    """Hands over all but one note."""

    hands_over_all = False

    def __init__(self, note: str) -> None:
        self._note = note

    def ranked(self, found):
        return [each for each in found if each.note_id != self._note]


def test_a_line_goes_with_the_passages_behind_it(engine):
    found = ask(
        engine, "What stands in the place of “Old pier”, and what is its status?", policy=OWN
    )
    lines, view = found.lines, engine.view(None, OWN)
    stated = {note for kept in lines for note in kept.line.note_ids}
    kept = may_be_shown(lines, view, Closed("Plans/New pier.md"))
    left = {note for each in kept for note in each.line.note_ids}
    assert "Plans/New pier.md" in stated
    assert left == stated - {"Plans/New pier.md"}
    assert may_be_shown(lines, view, Closed("none")) == lines


def test_what_may_not_be_handed_over_is_not_told_of(engine):
    question, view = "What stands in the place of “Old pier”?", engine.view(None, OWN)
    scope = GraphScope(engine.knowledge(view), view, None)
    closed = Closed("Plans/New pier.md")
    found = scope.search(question, ["pier"], [], None, Way(), closed, 20)
    told = (found.answer.front, found.named, found.entries, found.ranked)
    assert "Plans/Old pier.md" in found.answer.front
    assert "New pier" not in repr(told)


def test_nearness_is_that_of_the_nearest_passage_and_none_by_words_alone(tmp_path):
    embedder = HashEmbedder(32)
    texts = ("a stone pier", "a ferry of iron", "the lock gate")
    vectors = embedder.embed_passages(list(texts)).tolist()
    chunks = [
        MadeChunk(f"{at}.md", *each) for at, each in enumerate(zip(texts, vectors, strict=True))
    ]
    publish(tmp_path, {"": chunks}, {"": embedder.profile.key()})
    view = View.over(PublishedBuild.open(tmp_path))
    query = QueryVector(embedder.profile.key(), embedder.embed_query("iron ferry"))
    found = rank(view, ["ferry", "iron"], query)
    _, scores = view.vectors(query.profile).best(query.values, 3)
    signals = SignalReader(view).of("iron ferry", ["ferry", "iron"], found, query, {})
    assert signals.similarity == max(scores)
    by_words = rank(view, ["ferry", "iron"], None, "keyword")
    assert SignalReader(view).of("iron ferry", ["ferry"], by_words, None, {}).similarity is None


def test_a_question_without_a_word_finds_nothing(engine):
    assert ask(engine, "  ").results == ()


def test_an_unknown_variant_is_refused(engine):
    with pytest.raises(SettingsError, match="routed"):
        ask(engine, "pier", "graphs")


def test_the_command_shows_what_is_read_and_why(root):
    question = "Is “Old pier” still in force?"
    shown = run_kb(
        "search", question, "--variant", "routed", "--context", "--explain", "--home", str(root)
    )
    assert shown.returncode == 0, shown.stderr
    for words in ("[P1]", "superseded", "Route: graph", "Named: Plan 1 - Old pier", "tokens"):
        assert words in shown.stdout
    done = run_kb(
        *("search", question, "--variant", "routed", "--context", "--explain", "--json"),
        *("--home", str(root)),
    )
    found = json.loads(done.stdout)
    assert found["decision"]["behaviour"] == "answer"
    assert found["context"]["tokens"] == sum(each["tokens"] for each in found["context"]["items"])
    assert found["explained"]["front"]


def test_a_refusal_is_said_before_what_was_found(root):
    shown = run_kb(
        "search", "What does plan 77 say?", "--variant", "keyword+graph", "--home", str(root)
    )
    assert shown.stdout.startswith("The notes do not seem to answer this")
