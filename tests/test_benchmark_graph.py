"""The synthetic knowledge of the query benchmark: exactly so much, always the same, with hubs."""

from collections import Counter

import pytest

from benchmarks.query_graph import VARIANTS, measure_graph
from benchmarks.synthetic_build import make_corpus, questions_of
from benchmarks.synthetic_knowledge import Speech
from kb_knowledge.knowledge import knowledge_of


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(chunks=600, dims=8, words=20, folders=4)


@pytest.fixture(scope="module")
def speech(corpus):
    return Speech(corpus, entities=900, links=700, claims=800)


def test_the_evidence_gives_exactly_as_many_entities_links_and_claims_as_asked(speech):
    known = knowledge_of(speech.evidence)

    assert len(known.entities) == 900
    assert len(known.links) == 700
    assert len(known.claims) == 800


def test_some_names_are_spoken_of_far_more_often_than_others(speech):
    times = Counter(each.subject.text for each in speech.evidence.mentions)
    most = [count for _, count in times.most_common()]

    assert most[0] > 10 * most[len(most) // 2]


def test_the_same_numbers_give_the_same_evidence(corpus, speech):
    assert Speech(corpus, entities=900, links=700, claims=800).evidence == speech.evidence


def test_a_folder_is_the_same_whether_it_is_made_alone_or_with_the_others(corpus):
    alone = corpus.folder(2)

    assert alone.texts == corpus.folders[2].texts
    assert (alone.vectors == corpus.folders[2].vectors).all()


def test_every_question_names_something_that_is_there(corpus, speech):
    texts, vectors = questions_of(corpus.folders, 8)
    asked = speech.questions(texts)

    assert len(asked) == len(vectors) == 8
    assert all(any(name in each for name in speech.names) for each in asked)


def test_all_variants_are_asked_over_a_small_build_and_told_in_one_line(capsys):
    measure_graph(chunks=600, dims=16, words=20, folders=4, number=8, sizes=(900, 700, 800))
    line = capsys.readouterr().out

    assert all(f'"{name}_cpu_ms_p50"' in line for name in VARIANTS)
    assert '"graph_trimmed_over_hybrid"' in line
