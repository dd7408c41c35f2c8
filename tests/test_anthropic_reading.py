"""How the stand-ins read a text: what they find stands in it, and fits the schema asked for."""

import json
from typing import Any

import pytest

from tests.standins import reading

TEXT = {"type": "string"}


def schema_of(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    names = sorted(properties) if required is None else required
    return {
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": False,
    }


TEXTS = {"type": "array", "items": TEXT}
LINK_TYPES = {"enum": ["DEPENDS_ON", "INTRODUCED", "RELATED_TO"]}
MODALITY = {"enum": ["fact", "plan"]}
ITEM = {
    "mentions": {"name": TEXT, "type": {"enum": ["Person", "Thing"]}, "aliases": TEXTS},
    "links": {
        "source": TEXT, "target": TEXT, "type": LINK_TYPES, "evidence": TEXT, "modality": MODALITY,
    },
    "claims": {
        "entity": TEXT, "attribute": TEXT, "value": TEXT, "quote": TEXT, "modality": MODALITY,
        "valid_from": TEXT,
    },
}  # fmt: skip
EXTRACTION = schema_of(
    {name: {"type": "array", "items": schema_of(item)} for name, item in ITEM.items()}
)


def read(text: str, breadcrumb: str = "Pump > Costs") -> dict[str, Any]:
    data = json.dumps({"breadcrumb": breadcrumb, "date": "", "kind": "note", "text": text})
    return json.loads(reading.answer(f"Read.\n<note>\n{data}\n</note>", EXTRACTION))


def test_the_reader_finds_names_links_and_claims_that_stand_in_the_text():
    text = (
        "Ada Lovelace introduced Charles Babbage to [[Acme|the firm]].\n"
        "[[Pump]] depends on [[Valve]]. We saw [[Tank]] beside [[Hall 3]].\n"
        "- Price: 40 EUR\nThe pump costs 12.5 EUR. Pump will cost more. It has 3 seals."
    )
    found = read(text)
    names = [one["name"] for one in found["mentions"]]
    assert names == ["Ada Lovelace", "Charles Babbage", "Acme", "Pump", "Valve", "Tank", "Hall 3"]
    assert [one["type"] for one in found["mentions"]][:3] == ["Person", "Person", "Thing"]
    ends = [(one["source"], one["type"], one["target"]) for one in found["links"]]
    assert ends == [
        ("Ada Lovelace", "INTRODUCED", "Charles Babbage"),
        ("Pump", "DEPENDS_ON", "Valve"),
        ("Tank", "RELATED_TO", "Hall 3"),
    ]
    said = [(one["entity"], one["attribute"], one["value"]) for one in found["claims"]]
    assert said == [
        ("Pump", "price", "40 EUR"),
        ("Pump", "price", "12.5 EUR"),
        ("Pump", "count", "3 seals"),
    ]
    for one in [*found["links"], *found["claims"]]:
        assert one.get("quote", one.get("evidence")) in text
        assert one["modality"] == "fact"
        assert set(one) == set(ITEM["links" if "source" in one else "claims"])


def test_the_reader_takes_a_plan_for_a_plan():
    (claim,) = read("The plan: the pump costs 12 EUR.")["claims"][-1:]
    assert claim["modality"] == "plan"


@pytest.mark.parametrize(
    ("text", "keep", "reason"),
    [
        ("We decided it.", True, "decision"),
        ("It is 7.", True, "figure"),
        ("Hello.", False, "nothing"),
    ],
)
def test_the_reader_keeps_what_says_something(text: str, keep: bool, reason: str):
    reasons = {"enum": ["decision", "figure", "person", "plan", "nothing"]}
    schema = schema_of({"keep": {"type": "boolean"}, "reason": reasons})
    data = json.dumps({"date": "2026-12-01", "text": text})
    assert json.loads(reading.answer(data, schema)) == {"keep": keep, "reason": reason}


def test_the_reader_types_each_numbered_link():
    item = schema_of({"n": {"type": "integer"}, "type": {"enum": ["DEPENDS_ON", "RELATED_TO"]}})
    schema = schema_of({"types": {"type": "array", "items": item}})
    rows = [{"n": 1, "phrase": "A depends on B"}, {"n": 2, "phrase": "A, B"}]
    expected = [{"n": 1, "type": "DEPENDS_ON"}, {"n": 2, "type": "RELATED_TO"}]
    for data in (rows, {"links": rows}):
        said = json.loads(reading.answer(f"Type:\n{json.dumps(data)}", schema))
        assert said == {"types": expected}


def test_any_other_schema_is_filled_with_what_is_legal():
    schema = schema_of(
        {
            "a": {"$ref": "#/$defs/A"},
            "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "c": {"const": 5},
            "d": {"type": "array", "items": TEXT, "minItems": 1},
            "e": {"type": "null"},
            "f": {"enum": ["x", "y"]},
        }
    )
    schema["$defs"] = {"A": schema_of({"x": {"type": "boolean"}, "y": {"type": "number"}})}
    said = json.loads(reading.answer("[[no data]] {broken", schema))
    assert said == {"a": {"x": False, "y": 0}, "b": 0, "c": 5, "d": [""], "e": None, "f": "x"}
