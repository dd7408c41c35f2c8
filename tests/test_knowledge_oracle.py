"""Knowledge against a brute-force oracle, and what holds of it whatever the chunks say."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_knowledge.knowledge import knowledge_of
from kb_knowledge.records import Knowledge
from tests.oracle_knowledge import Oracle, labelled
from tests.random_evidence import joined, make_evidence, shuffled

_SEEDS = st.integers(0, 2**32)
_AT_ONCE = 10  # evidences of one seed: drawing one costs more than making ten


@settings(max_examples=150, deadline=None)
@given(_SEEDS)
def test_knowledge_is_what_the_oracle_works_out(seed: int) -> None:
    for at in range(_AT_ONCE):
        evidence = make_evidence(random.Random(seed * _AT_ONCE + at))
        assert labelled(knowledge_of(evidence)) == Oracle(evidence).facts()


@pytest.mark.parametrize("hub_chunks", [None, 2])
@settings(max_examples=60, deadline=None)
@given(_SEEDS)
def test_the_order_of_the_rows_does_not_matter(hub_chunks: int | None, seed: int) -> None:
    chance = random.Random(seed)
    evidence = make_evidence(chance)
    known = knowledge_of(evidence, hub_chunks)
    assert repr(knowledge_of(shuffled(chance, evidence), hub_chunks)) == repr(known)


@settings(max_examples=60, deadline=None)
@given(_SEEDS)
def test_two_tenants_know_what_each_knows_alone(seed: int) -> None:
    chance = random.Random(seed)
    red = make_evidence(chance, ["red"], " of red", [" of red"])
    blue = make_evidence(chance, ["blue"], " of blue", [" of blue"])
    known = [knowledge_of(each, 2) for each in (joined(red, blue), red, blue)]
    both, *alone = (_rows(each) for each in known)
    assert both == {name: sorted(alone[0][name] + alone[1][name]) for name in both}


@settings(max_examples=60, deadline=None)
@given(_SEEDS)
def test_what_another_tenant_says_changes_nothing_of_a_tenants_own(seed: int) -> None:
    chance = random.Random(seed)
    red = make_evidence(chance, ["red"], " of red", [" of red"])
    blue = make_evidence(chance, ["blue"], " of blue", [" of red", " of blue"])
    known = [knowledge_of(each, 2) for each in (joined(red, blue), red)]
    assert _of_tenant(known[0], "red") == _of_tenant(known[1], "red")


@settings(max_examples=60, deadline=None)
@given(_SEEDS)
def test_every_row_points_at_rows_that_are_there(seed: int) -> None:
    known = knowledge_of(make_evidence(random.Random(seed)))
    entities = {each.entity_id for each in known.entities}
    claims = {each.claim_id: each for each in known.claims}
    assert {each.source_id for each in known.links} <= entities
    assert {each.target_id for each in known.links} <= entities
    assert {each.entity_id for each in known.claims} <= entities
    assert {each.entity_id for each in known.mentions} == entities
    assert {each.chunk_id for each in known.mentions} <= known.chunk_notes.keys()
    assert {chunk for each in known.links for chunk in each.chunk_ids} <= known.chunk_notes.keys()
    assert len(claims) == len(known.claims)
    assert all({each.claim_id, each.other_id} <= claims.keys() for each in known.relations)


def _rows(known: Knowledge) -> dict[str, list[Any]]:
    names = ("entities", "mentions", "links", "claims", "relations", "merges")
    return {name: list(getattr(known, name)) for name in names} | {
        "chunk_notes": sorted(known.chunk_notes.items())
    }


def _of_tenant(known: Knowledge, tenant: str) -> dict[str, list[Any]]:
    own = {each.entity_id for each in known.entities if each.tenant == tenant}
    claims = [each for each in known.claims if each.entity_id in own]
    ids = {each.claim_id for each in claims}
    return {
        "entities": [each for each in known.entities if each.entity_id in own],
        "mentions": [each for each in known.mentions if each.entity_id in own],
        "links": [each for each in known.links if {each.source_id, each.target_id} <= own],
        "claims": list(claims),
        "relations": [each for each in known.relations if each.claim_id in ids],
        "merges": [each for each in known.merges if each.entity_id in own],
    }
