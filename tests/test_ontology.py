"""The ontology: what it says, what it refuses, and how a home adds to it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_core.errors import SettingsError
from kb_core.ontology import RELATED_TO, cues, languages, read_ontology
from kb_core.property_names import last_word, property_key

ONTOLOGY = read_ontology()


def own(folder: Path, text: str) -> Path:
    path = folder / "ontology.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_property_is_known_by_its_whole_name_and_else_by_its_last_word():
    assert ONTOLOGY.link("superseded_by").type == "SUPERSEDED_BY"
    assert ONTOLOGY.link("bdfl_delegate").type == "DELEGATED_TO"
    assert ONTOLOGY.link("shared_with") is None  # `with` links only when it stands alone
    assert ONTOLOGY.link("with").type == "ATTENDED_BY"
    assert ONTOLOGY.link("colour") is None


def test_an_inverse_property_goes_the_other_way_and_is_no_fact_of_the_note():
    assert ONTOLOGY.link("superseded_by").is_inverse is False
    assert ONTOLOGY.link("superseded_by").is_of_note is True
    assert ONTOLOGY.link("replaces")[:2] == ("SUPERSEDED_BY", True)
    assert ONTOLOGY.link("replaces").is_of_note is False


@pytest.mark.parametrize(
    ("status", "modality"),
    [("Draft", "plan"), ("WITHDRAWN", "plan"), ("Final", "fact"), ("In Progress", "fact"),
     ("entwurf", "plan"), ("已取消", "plan"), ("something else", "fact"), ("", "fact")],
)  # fmt: skip
def test_a_status_says_how_a_note_is_meant(status: str, modality: str):
    assert ONTOLOGY.modality(status) == modality


def test_an_unfinished_record_tells_what_was_and_a_rejected_one_does_not():
    assert ONTOLOGY.modality("draft", is_record=True) == "fact"
    assert ONTOLOGY.modality("rejected", is_record=True) == "plan"


def test_an_attribute_has_one_name_whatever_its_property_is_called():
    assert ONTOLOGY.attribute("state") == ONTOLOGY.attribute("status") == "status"
    assert ONTOLOGY.attribute("headcount") == "headcount"
    assert ONTOLOGY.prefixed_attribute("project_status") == "status"
    assert ONTOLOGY.prefixed_attribute("python_version") is None


def test_every_type_and_link_serves_a_question_and_there_are_enough_links():
    assert len(ONTOLOGY.links) >= 30
    assert RELATED_TO in ONTOLOGY.links
    for entry in ONTOLOGY.links.values():
        assert entry["serves"]
        assert set(entry["serves"]) <= set(ONTOLOGY.areas)
    assert len(ONTOLOGY.areas) == 8


def test_a_home_adds_types_and_links_and_takes_properties_over(tmp_path: Path):
    path = own(
        tmp_path,
        'silent = ["shelf"]\n[types.Asset]\nwords = ["machine"]\nserves = ["connections"]\n'
        '[links.STEERED_BY]\nproperties = ["Owner"]\ninverse_properties = []\n'
        'value = "Asset"\nserves = ["people"]\n',
    )
    mine = read_ontology(path)
    assert mine.entity_type("Machine") == "Asset"
    assert mine.link("owner").type == "STEERED_BY"
    assert mine.link("maintainer").type == "OWNED_BY"
    assert {"shelf", "tags"} <= mine.silent
    assert mine.digest != ONTOLOGY.digest


def test_a_home_without_an_ontology_has_the_packages_own(tmp_path: Path):
    assert read_ontology(tmp_path / "ontology.toml").digest == ONTOLOGY.digest


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[types.Asset]\nwords = []\n", "types.Asset serves no question"),
        ('[types.Asset]\nserves = ["fun"]\n', "'fun' is none of receipts"),
        ('[links.EATS]\nserves = ["people"]\nvalue = "Food"\n', "'Food' is none of Person"),
        ('[states.odd]\nmodality = "maybe"\n', "'maybe' is none of fact"),
        ("[states.odd]\nwords = []\n", "states.odd.modality"),
        ('modalities = ["rumour"]\n', "'rumour' is none of fact"),
        ("[links.EATS]\nfood = 1\n", "'food' means nothing. Allowed: properties"),
        ("silent = 3\n", "silent has to be a list of texts"),
        ('silent = ["a", 3]\n', "silent has to be a list of texts"),
        ('[attributes.a]\nproperties = ["x"]\n[attributes.b]\nproperties = ["X"]\n', "'x' stands"),
        ("colour = 1\n", "'colour' means nothing"),
        ("types = 1\n", "types is no table"),
        ("[types]\nAsset = 1\n", "types.Asset is no table"),
        ("[types\n", "is not valid TOML"),
    ],
)
def test_an_ontology_that_cannot_be_used_is_refused_with_its_place(
    tmp_path: Path, text: str, told: str
):
    with pytest.raises(SettingsError, match=r"ontology\.toml") as refused:
        read_ontology(own(tmp_path, text))
    assert told in str(refused.value)


@pytest.mark.parametrize("language", languages())
def test_the_words_of_a_language_speak_of_what_the_ontology_has(language: str):
    words = cues(language)
    assert set(words.links) <= set(ONTOLOGY.links)
    assert set(words.attributes) <= set(ONTOLOGY.attributes)
    assert set(words.states) <= set(ONTOLOGY.states)
    assert words.now
    assert words.why
    assert words.count
    assert words.hints
    for forward, inverse in words.links.values():
        assert not set(forward) & set(inverse)


def test_english_has_words_for_every_link_and_an_unknown_language_has_none():
    assert set(cues("en").links) == set(ONTOLOGY.links)
    assert "replaced by" in cues("en").links["SUPERSEDED_BY"].forward
    assert "replaced" in cues("en").links["SUPERSEDED_BY"].inverse
    assert cues("xx").links == {}
    assert languages() == ("de", "en", "zh")


@given(st.text(alphabet="aÉ中 _-*\t", max_size=40))
def test_a_folded_property_stays_as_it_is(name: str):
    key = property_key(name)
    assert property_key(key) == key
    assert last_word(key) in key
