"""The linked leg: what a question names, and what that links to or mentions."""

import pytest

from kb_core.errors import SettingsError
from kb_search.engine import Engine
from kb_search.linked import Joined, fused_with
from kb_search.results import SearchResult
from resources.builds import Builds
from tests.built_home import build, open_home
from tests.small_vault import put

FILMS = {
    "Films/Aurora Lane.md": "Aurora Lane is a film of 1987, directed by Ilse Brandt.\n",
    "Films/Stone Ferry.md": "Stone Ferry is a film of 1991, directed by Paul Adeyemi.\n",
    "People/Ilse Brandt.md": "Ilse Brandt was born in Emden. She died in Lyon.\n",
    "People/Paul Adeyemi.md": "Paul Adeyemi lives in Accra.\n",
    "Notes/Directors who died.md": "Where did the director die? A list of directors and films.\n",
    "Notes/Film night.md": "Which film, which director: we still have to die of curiosity.\n",
    "Private/Secret cut.md": "The secret cut of [[Aurora Lane]].\n",
    # A name says little in a vault of seven notes.
    **{f"Weather/Week {n}.md": f"Rain on day {n}, sun after.\n" for n in range(60)},
}


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    root = tmp_path_factory.mktemp("films")
    return made(root, FILMS)


def made(root, notes):
    for path, text in notes.items():
        put(root / "vault", path, text)
    home = open_home(root / "home", root / "vault")
    Builds(home.data).point_to(build(home, with_vectors=False))
    return home


def asked(home, question, variant="keyword+linked", **how) -> SearchResult:
    return Engine.open(home.root, home.settings).search(question, variant=variant, **how)


def notes(result: SearchResult) -> list[str]:
    return [found.note for found in result.results]


DIRECTOR = "Where did the director of Aurora Lane die?"


def test_a_note_that_shares_no_word_is_found_through_the_one_that_is_named(films):
    question = "What is the home town of the director of Stone Ferry?"
    alone, linked = asked(films, question, "keyword"), asked(films, question)

    assert "People/Paul Adeyemi.md" not in notes(alone)
    assert notes(linked)[:2] == ["Films/Stone Ferry.md", "People/Paul Adeyemi.md"]


def test_what_a_named_note_mentions_goes_before_notes_that_only_share_words(films):
    def place(variant: str, note: str) -> int:
        return notes(asked(films, DIRECTOR, variant)).index(note)

    others = ["Notes/Directors who died.md", "Notes/Film night.md"]
    assert all(
        place("keyword+linked", "People/Ilse Brandt.md") < place("keyword+linked", n)
        for n in others
    )


def test_a_note_only_the_leg_found_shows_its_text_and_no_rank_of_other_legs(films):
    question = "What is the home town of the director of Stone Ferry?"
    found = next(
        each for each in asked(films, question).results if each.note == "People/Paul Adeyemi.md"
    )

    assert "Accra" in found.best.quote
    assert found.best.legs.keyword is None
    assert found.score > 0


def test_within_a_folder_nothing_outside_it_joins_or_counts(films, tmp_path):
    inside = {path: text for path, text in FILMS.items() if path.startswith("Films/")}
    alone = made(tmp_path, inside)

    within = asked(films, DIRECTOR, folders=["Films"])
    assert set(notes(within)) <= set(inside)
    assert [(each.note, each.score) for each in within.results] == [
        (each.note, each.score) for each in asked(alone, DIRECTOR).results
    ]


def test_a_folder_below_a_partition_is_asked_alone_whatever_its_notes_have_of_passages(tmp_path):
    long = "\n\n".join(f"## Part {n}\n" + "kiln word " * 400 for n in range(4))
    home = made(tmp_path, {"Work/Sub/long.md": long, "Work/b.md": "kiln\n", "Work/c.md": "kiln"})

    for variant in ("keyword", "keyword+linked"):
        assert notes(asked(home, "kiln", variant, folders=["Work/Sub"])) == ["Work/Sub/long.md"]


def test_a_question_that_names_nothing_and_finds_nothing_finds_nothing(films):
    assert notes(asked(films, "zebra crossing")) == []
    assert notes(asked(films, "  ")) == []


def test_the_variant_asked_for_is_the_one_that_is_told(films):
    assert asked(films, DIRECTOR).variant == "keyword+linked"
    assert asked(films, DIRECTOR, "hybrid+linked").variant == "keyword+linked"
    with pytest.raises(SettingsError, match="No search variant"):
        asked(films, DIRECTOR, "linked")


def test_a_build_without_links_answers_without_them_and_says_so(films):
    builds = Builds(films.data)
    manifest = builds.read(builds.current())
    del manifest["vault"]["artifacts"]["note_graph"]
    name = builds.write(manifest)

    result = Engine.open(films.root, films.settings, name).search(
        DIRECTOR, variant="keyword+linked"
    )

    assert result.variant == "keyword"
    assert "Without links" in result.note
    assert notes(result)


def test_what_links_to_a_hub_does_not_join(tmp_path):
    many = {f"Log/Day {n}.md": f"Entry {n}: Aurora Lane again.\n" for n in range(40)}
    home = made(tmp_path, {**FILMS, **many})
    question = "Where did the director of that film of 1987, Aurora Lane, die of curiosity?"

    def logs(variant):
        found = asked(home, question, variant, notes=60).results
        return [each.note for each in found if each.note.startswith("Log/")]

    assert logs("keyword+linked") == logs("keyword")


def test_the_same_question_gives_the_same_bytes(films):
    assert asked(films, DIRECTOR).to_json() == asked(films, DIRECTOR).to_json()


def test_the_surer_ranking_decides_and_a_sure_neighbour_goes_before_the_base_there():
    base = list(range(10))

    assert fused_with(base, []) == [(note, 1 / (61 + note)) for note in base]
    assert fused_with(base, [Joined(77, 1.0)])[0][0] == 77
    unsure = [note for note, _ in fused_with(base, [Joined(9, 0.3)])]
    assert unsure == base
    assert [note for note, _ in fused_with(base, [Joined(77, 0.0)])] == base
