"""Vague links: which are asked about, in which batches, what is believed, what is proposed."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_assets.answer_text import UnusableAnswerError
from kb_assets.asking.link_requests import MOST_LINKS, requests_for, system_prompt
from kb_assets.asking.vague_links import vague_links, verb_phrase
from kb_assets.retyping.proposals import FEWEST, proposals
from kb_assets.retyping.rules import type_of
from kb_assets.retyping.verdicts import type_in, types_in
from kb_core.knowledge_contracts import LINK_OBSERVATIONS
from kb_core.reading_contracts import TYPE_PROPOSALS
from kb_knowledge.records import NAME, NOTE, SELF
from tests.extracted_notes import ONTOLOGY

MODEL = "anthropic/some-model"


def row(phrase, source="Kiln", target="Bolt Ltd", **others):
    return {
        "version_id": "v1", "chunk_id": "c1", "note_id": "n.md", "source_kind": NAME,
        "source": source, "target_kind": NAME, "target": target, "type": "RELATED_TO",
        "label": "related_to", "phrase": phrase, "modality": "fact", "valid_from": None,
        "extractor": "some-model", **others,
    }  # fmt: skip


def table(*rows):
    return LINK_OBSERVATIONS.table({**each, "ordinal": at} for at, each in enumerate(rows))


def vague(*rows, ontology=ONTOLOGY, identity=MODEL):
    return vague_links(table(*rows), identity, ontology)


def many(count, start=0):
    return [
        row(f"Kiln sees Bolt{at} now", target=f"Bolt{at}") for at in range(start, start + count)
    ]


def asked(links, ontology=ONTOLOGY, **options):
    return requests_for(links, MODEL, ontology, **options)


def with_type(name):
    entry = {"properties": [], "inverse_properties": [], "serves": ["people"]}
    return replace(ONTOLOGY, links={**ONTOLOGY.links, name: entry})


def data_in(request):
    return json.loads(request.text.partition("<links>\n")[2].partition("\n</links>")[0])["links"]


# Which links are vague --------------------------------------------------------------------------


def test_only_links_that_are_known_to_be_related_are_vague():
    found = vague(row("Kiln is fed by Bolt Ltd"), row("Kiln needs Bolt Ltd", type="DEPENDS_ON"))
    assert [(each.ordinal, each.source, each.target, each.phrase) for each in found] == [
        (0, "Kiln", "Bolt Ltd", "Kiln is fed by Bolt Ltd")
    ]


@pytest.mark.parametrize(
    "phrase",
    ["Kiln and Bolt Ltd", "Kiln Bolt Ltd", "the Kiln, with Bolt Ltd", "related: Bolt Ltd",
     "see also: Bolt Ltd", "Kiln is related to Bolt Ltd", "Bolt Ltd"],
)  # fmt: skip
def test_a_phrase_that_says_no_more_than_the_names_is_not_asked_about(phrase):
    assert vague(row(phrase)) == []


def test_a_property_is_asked_about_for_each_of_its_values_by_itself():
    property_of = {"source_kind": SELF, "source": "", "target_kind": NOTE, "extractor": "structure"}
    phrase = "stored near: Kiln, Oven"
    found = vague(row(phrase, **property_of | {"target": "Works/Kiln.md#Top"}),
                  row(phrase, **property_of | {"target": "Oven"}))  # fmt: skip
    assert [(each.source, each.target, each.phrase) for each in found] == [
        ("this note", "Kiln", "stored near: Kiln"),
        ("this note", "Oven", "stored near: Oven"),
    ]
    assert {verb_phrase(each) for each in found} == {"stored near"}
    silent = row("see also: Kiln, Oven", **property_of | {"target": "Kiln"})
    assert vague(silent) == []


def test_the_key_of_a_link_covers_what_is_sent_the_model_and_the_types():
    (first,) = vague(row("Kiln sees Bolt Ltd"))
    (elsewhere,) = vague(row("Kiln sees Bolt Ltd", version_id="v2", chunk_id="c2", note_id="o.md"))
    assert elsewhere.key == first.key
    others = [
        *vague(row("Kiln saw Bolt Ltd")),
        *vague(row("Kiln sees Bolt Ltd", source="Oven")),
        *vague(row("Kiln sees Bolt Ltd", target="Bolt")),
        *vague(row("Kiln sees Bolt Ltd"), identity="ollama/other"),
        *vague(row("Kiln sees Bolt Ltd"), ontology=with_type("SEES")),
    ]
    assert len({each.key for each in (first, *others)}) == 6


# What is asked ----------------------------------------------------------------------------------


def test_forty_links_are_asked_about_at_a_time_each_key_once_and_none_that_is_answered():
    links = vague(*many(100), *many(3))
    assert len({each.key for each in links}) == 100
    found = asked(links)
    assert [len(each.parts) for each in found] == [40, 40, 20]
    parts = [part for each in found for part in each.parts]
    assert parts == sorted({each.key for each in links})
    (rest,) = asked(links, answered=set(parts[:70]))
    assert list(rest.parts) == parts[70:]
    assert asked(links, answered=set(parts)) == []


def test_equal_links_give_equal_batches_in_whatever_order_they_come():
    links = vague(*many(90))
    assert asked(links[::-1]) == asked(links)


def test_a_link_is_sent_as_its_number_its_ends_and_its_phrase():
    links = vague(row("Kiln sees Bolt Ltd"), row("Kiln heats </links> {{links}} Bolt Ltd"))
    (found,) = asked(links)
    rows = data_in(found.request)
    assert [each["n"] for each in rows] == [1, 2]
    by_key = {each.key: each for each in links}
    for sent, part in zip(rows, found.parts, strict=True):
        link = by_key[part]
        assert sent == {
            "n": sent["n"],
            "source": "Kiln",
            "target": "Bolt Ltd",
            "phrase": link.phrase,
        }
    assert found.request.system == system_prompt(ONTOLOGY)
    assert found.request.text.count("<") == 2
    assert found.request.max_tokens > found.expected_output > 0


def test_a_new_type_asks_the_vague_links_again():
    more = with_type("SEES")
    (before,), (after,) = asked(vague(*many(3))), asked(vague(*many(3), ontology=more), more)
    assert before.request.key != after.request.key
    assert not set(before.parts) & set(after.parts)
    assert "SEES: people" in after.request.system


# What is believed -------------------------------------------------------------------------------


def answer(*types):
    return json.dumps({"types": [{"n": n, "type": kind} for n, kind in types]})


def test_types_go_to_their_places_and_the_others_stay_vague():
    text = answer((3, "USES"), (1, "KNOWS"), (2, "USES"), (2, "KNOWS"), (9, "USES"), (4, "LIKES"))
    found = types_in(text, 5, ONTOLOGY)
    assert found.types == {0: "KNOWS", 2: "USES"}
    assert found.counts == {"twice": 1, "out_of_range": 1, "unknown_type": 1, "missing": 1}
    assert [type_in(text, part, ONTOLOGY) for part in range(5)] == ["KNOWS", "", "USES", "", ""]


@pytest.mark.parametrize(
    "item",
    [{"n": "1", "type": "USES"}, {"n": True, "type": "USES"}, {"n": 1.0, "type": "USES"},
     {"n": 1}, {"n": 1, "type": ["USES"]}, {"n": 1, "type": "USES", "why": ""}, None, 1, "USES"],
)  # fmt: skip
def test_an_item_out_of_form_types_nothing(item):
    text = json.dumps({"types": [item, {"n": 2, "type": "USES"}]})
    assert types_in(text, 2, ONTOLOGY).types == {1: "USES"}
    assert types_in(text, 2, ONTOLOGY).counts["wrong_fields"] == 1
    assert (type_in(text, 0, ONTOLOGY), type_in(text, 1, ONTOLOGY)) == ("", "USES")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"types": {}}', '{"types": [], "n": 1}'])
def test_an_answer_out_of_form_is_unusable(text):
    with pytest.raises(UnusableAnswerError):
        types_in(text, 1, ONTOLOGY)
    with pytest.raises(UnusableAnswerError):
        type_in(text, 0, ONTOLOGY)


_ITEMS = st.fixed_dictionaries(
    {
        "n": st.integers(-1, 6) | st.none(),
        "type": st.sampled_from(["USES", "KNOWS", "x"]) | st.none(),
    }
)


@given(st.lists(_ITEMS | st.none() | st.text(max_size=3), max_size=8), st.integers(0, 5))
def test_both_ways_of_reading_an_answer_agree(items, links):
    text = json.dumps({"types": items})
    found = types_in(text, links, ONTOLOGY)
    assert found.types == {
        part: kind for part in range(links) if (kind := type_in(text, part, ONTOLOGY))
    }
    assert all(kind in ONTOLOGY.links for kind in found.types.values())


# The rules --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "kind"),
    [
        ("the Kiln depends on the Bolt Ltd", "DEPENDS_ON"),
        ("Kiln strongly depends on Bolt Ltd", "DEPENDS_ON"),
        ("Kiln was introduced by Bolt Ltd", "RELATED_TO"),  # holds the other way round
        ("Kiln introduced Bolt Ltd", "INTRODUCED"),
        ("Kiln never introduced Bolt Ltd", "RELATED_TO"),
        ("Kiln introduced a machine to Bolt Ltd", "RELATED_TO"),  # one word among others
        ("Kiln isn't part of Bolt Ltd", "RELATED_TO"),
        ("Kiln is part of Bolt Ltd", "PART_OF"),
        ("Kiln is an example of, and met through, Bolt Ltd", "RELATED_TO"),  # in both directions
        ("Kiln knows nothing about Bolt Ltd", "RELATED_TO"),
        ("Bolt Ltd is part of Kiln", "RELATED_TO"),  # the other way round
        ("Kiln belongs to Bolt Ltd", "RELATED_TO"),  # three types say so
        ("Kiln works for and is part of Bolt Ltd", "RELATED_TO"),  # two types
        ("Kiln sees Bolt Ltd", "RELATED_TO"),
        ("part of", "RELATED_TO"),
    ],
)
def test_a_cue_of_exactly_one_type_between_the_ends_gives_the_type(phrase, kind):
    for link in vague(row(phrase)):
        assert type_of(link, ONTOLOGY) == kind
    assert vague(row(phrase))


def test_the_rules_read_other_languages_and_properties():
    (chinese,) = vague(row("窑炉依赖电站", source="窑炉", target="电站"))
    assert type_of(chinese, ONTOLOGY) == "DEPENDS_ON"
    own = {"source_kind": SELF, "source": "", "extractor": "structure"}
    (fed,) = vague(row("is fed by: Bolt Ltd", **own))
    assert type_of(fed, ONTOLOGY) == "DEPENDS_ON"


def test_the_rules_give_no_type_that_the_ontology_does_not_have():
    fewer = {name: entry for name, entry in ONTOLOGY.links.items() if name != "PART_OF"}
    (link,) = vague(row("Kiln is part of Bolt Ltd"))
    assert type_of(link, replace(ONTOLOGY, links=fewer)) == "RELATED_TO"


# What is proposed -------------------------------------------------------------------------------


def said(count, phrase="Kiln sees {}", **others):
    return [
        row(phrase.format(f"Bolt{at}"), target=f"Bolt{at}", chunk_id=f"c{at}", **others)
        for at in range(count)
    ]


def test_a_phrase_that_is_frequent_is_proposed_with_its_chunks():
    links = vague(
        *said(FEWEST), *said(FEWEST + 1, "The Kiln HEATS   the {}"), *said(2, "Kiln hits {}")
    )
    found = proposals(links)
    TYPE_PROPOSALS.check(found)
    assert found.to_pylist() == [
        {"phrase": "heats", "times": 4, "chunk_ids": ["c0", "c1", "c2", "c3"]},
        {"phrase": "sees", "times": 3, "chunk_ids": ["c0", "c1", "c2"]},
    ]
    assert proposals(links[::-1]).equals(found)


def test_versions_of_a_note_that_hold_the_same_chunk_count_once():
    once = said(FEWEST - 1)
    links = vague(*once, *({**each, "version_id": "v2"} for each in once))
    assert proposals(links).num_rows == 0


def test_a_sentence_is_no_phrase():
    links = vague(*said(5, "Kiln saw, on a long and cold morning in May, {}"))
    assert proposals(links).num_rows == 0
    assert proposals([]).num_rows == 0


@given(st.text(max_size=30), st.text(max_size=8), st.text(max_size=8))
def test_any_phrase_and_any_names_are_read(phrase, source, target):
    for link in vague(row(phrase, source=source, target=target)):
        assert type_of(link, ONTOLOGY) in ONTOLOGY.links
        assert verb_phrase(link)
    assert MOST_LINKS == 40
