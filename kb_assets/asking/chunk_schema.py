"""The form of a language model's answer about a chunk: flat, closed, nothing optional. Pure.

Nothing that has no column is asked for: a description of each thing would be paid for and thrown
away. What is not said is an empty text, because optional fields and nulls make a schema costly.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from kb_core.ids import json_hash
from kb_core.ontology import Ontology

MENTIONS, LINKS, CLAIMS = "mentions", "links", "claims"
LISTS = (MENTIONS, LINKS, CLAIMS)

Schema = dict[str, Any]


def answer_schema(ontology: Ontology) -> Schema:
    """Return the JSON schema of an answer: its types are those of the ontology."""
    return _schema(tuple(ontology.types), tuple(ontology.links), ontology.modalities)


@lru_cache(maxsize=1)
def shape() -> str:
    """Return the digest of the schema without the words that an ontology may add to.

    A type more changes no answer that was paid for.
    """
    return json_hash(_schema((), (), ()))


def fields_of(name: str) -> frozenset[str]:
    """Return the fields that each item of a list has."""
    return frozenset(_schema((), (), ())["properties"][name]["items"]["properties"])


def _schema(types: Sequence[str], links: Sequence[str], modalities: Sequence[str]) -> Schema:
    text: Schema = {"type": "string"}
    names: Schema = {"type": "array", "items": text}
    mention = {"name": text, "type": _one_of(types), "aliases": names}
    link = {
        "source": text,
        "target": text,
        "type": _one_of(links),
        "evidence": text,
        "modality": _one_of(modalities),
    }
    claim = {
        "entity": text,
        "attribute": text,
        "value": text,
        "quote": text,
        "modality": _one_of(modalities),
        "valid_from": text,
        "valid_to": text,
    }
    items = {MENTIONS: mention, LINKS: link, CLAIMS: claim}
    return _object(
        {name: {"type": "array", "items": _object(each)} for name, each in items.items()}
    )


def _one_of(words: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(words)}


def _object(properties: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
