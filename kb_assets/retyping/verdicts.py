"""Read the types that a language model gives to numbered links, strictly. Pure.

A number that is missing, stands twice or is none of those asked about leaves its links vague: which
of two answers was meant, nobody knows.
"""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from kb_assets.answer_text import is_text, list_in, read_answer
from kb_core.ontology import Ontology

VERSION = "1"  # raise it when an equal answer would be read in another way


class Types(NamedTuple):
    """The types by place, from 0, and how many did not stand, by reason."""

    types: Mapping[int, str]
    counts: Counter[str]


def types_in(answer_text: str, links: int, ontology: Ontology) -> Types:
    """Return the types given to so many links. Raises UnusableAnswerError."""
    given, counts = _given(answer_text)
    counts = Counter(counts)
    types = {}
    for number, kinds in given.items():
        if not 1 <= number <= links:
            counts["out_of_range"] += 1
        elif len(kinds) > 1:
            counts["twice"] += 1
        elif kinds[0] not in ontology.links:
            counts["unknown_type"] += 1
        else:
            types[number - 1] = kinds[0]
    missing = links - sum(1 <= number <= links for number in given)
    return Types(types, counts + Counter(missing=missing))


def type_in(answer_text: str, part: int, ontology: Ontology) -> str:
    """Return the type given to the link at a place of its request, from 0; empty if none stands.

    Raises UnusableAnswerError.
    """
    given, _ = _given(answer_text)
    kinds = given.get(part + 1, ())
    return kinds[0] if len(kinds) == 1 and kinds[0] in ontology.links else ""


@lru_cache(maxsize=64)  # asked for at every link of an answer
def _given(answer_text: str) -> tuple[Mapping[int, tuple[str, ...]], Mapping[str, int]]:
    """Return the types by number as they were given, and how many items are none."""
    found: dict[int, tuple[str, ...]] = {}
    wrong = 0
    for item in list_in(read_answer(answer_text, ("types",)), "types"):
        if _is_item(item):
            found[item["n"]] = (*found.get(item["n"], ()), item["type"])
        else:
            wrong += 1
    return found, {"wrong_fields": wrong} if wrong else {}


def _is_item(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and item.keys() == {"n", "type"}
        and type(item["n"]) is int  # True is a number to Python
        and is_text(item["type"])
    )
