"""How the stand-ins for language models read: simple rules over the text they are sent. Pure.

The question is told from the schema that the answer must have, so that both stand-ins answer any
question of the project with JSON of that schema, and what they say of a note means something.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_WIKILINK = re.compile(r"\[\[([^\]|#\n\\]+)[^\]\n]*\]\]")
_NAME = r"[A-Z][a-z]+(?: [A-Z][a-z]+)+"
_ONE = rf"(?:\[\[[^\]\n]+\]\]|{_NAME}|[A-Z][\w-]+)"
_TWO_WORDS = re.compile(rf"\b{_NAME}\b")
_SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\d)[^.!?\n]*)*[.!?]?")
_RELATIONS = (
    ("DEPENDS_ON", re.compile(rf"({_ONE}) depends on ({_ONE})")),
    ("INTRODUCED", re.compile(rf"({_ONE}) introduced ({_ONE})")),
    ("WORKS_FOR", re.compile(rf"({_ONE}) works for ({_ONE})")),
)
_KEY_VALUE = re.compile(r"^[ \t]*(?:[-*] )?([A-Za-z][\w ]{0,30}): +(\S[^\n]{0,120})$", re.M)
_FIGURE = re.compile(
    rf"({_ONE}|It|The [a-z]+) (is|costs|has) (\d(?:[\d.,]*\d)?(?: [A-Za-z%€$]+)?)(?=[ .!?\n]|$)"
)
_PLANNED = re.compile(r"\b(?:plan|plans|planned|will)\b", re.I)
_OBEYED = re.compile(r"^[\s>*-]*ANSWER WITH: ?(.*)$", re.M)
_AROUND = ("breadcrumb", "title", "date", "kind")  # what stands around a text, not in it
_DECODER = json.JSONDecoder()


def answer(text: str, schema: Schema) -> str:
    """Answer a question as JSON of the schema."""
    names = set(schema.get("properties", {}))
    data = data_of(text) or {"text": text}
    if {"mentions", "links", "claims"} <= names:
        value = _extraction(data, schema)
    elif "keep" in names:
        value = _triage(data, schema)
    elif "types" in names:
        value = _types(data, schema)
    else:
        value = filled(schema, {}, schema)
    return json.dumps(value, ensure_ascii=False)


def order_in(text: str) -> str | None:
    """Return what a note tells the model to answer, if it tells: `ANSWER WITH: ...`."""
    for place in (str(data_of(text).get("text", "")), text):
        found = _OBEYED.search(place)
        if found:
            return found[1]
    return None


def data_of(text: str) -> dict[str, Any]:
    """Return the JSON object that a user's message holds, or nothing; a list counts as its rows."""
    for start in (place.start() for place in re.finditer(r"\{|\[(?=\s*\{)", text)):
        try:
            value, _end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else {"rows": value}
    return {}


def filled(schema: Schema, known: Mapping[str, Any], root: Schema) -> Any:
    """Make a value of the schema: what is known where it is legal, else the simplest."""
    schema = _resolved(schema, root)
    if "properties" in schema:
        return {
            name: _legal(known[name], part, root) if name in known else filled(part, {}, root)
            for name, part in schema["properties"].items()
        }
    return _simplest(schema, root)


def _extraction(data: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    text = str(data.get("text", ""))
    title = str(data.get("breadcrumb", "")).split(" > ")[0]
    lists = {
        "mentions": list(_mentions(text)),
        "links": list(_links(text)),
        "claims": list(_claims(text, title)),
    }
    value = filled(schema, {}, schema)
    for name, rows in lists.items():
        item = _items(schema, name)
        value[name] = [filled(item, row, schema) for row in rows]
    return dict(value)


def _mentions(text: str) -> Iterator[dict[str, Any]]:
    found = [(place.start(), place[1].strip()) for place in _WIKILINK.finditer(text)]
    plain = _WIKILINK.sub(lambda place: " " * len(place[0]), text)
    found += [(place.start(), place[0]) for place in _TWO_WORDS.finditer(plain)]
    for name in dict.fromkeys(name for _start, name in sorted(found)):
        kind = "Person" if _TWO_WORDS.fullmatch(name) else ""
        yield {"name": name, "type": kind, "aliases": [], "quote": name, "evidence": name}


def _links(text: str) -> Iterator[dict[str, Any]]:
    for sentence in _sentences(text):
        typed = [
            _link(kind, found[1], found[2], found[0], sentence)
            for kind, pattern in _RELATIONS
            for found in pattern.finditer(sentence)
        ]
        yield from typed
        ends = _WIKILINK.findall(sentence)
        if not typed and len(ends) == 2:
            yield _link("RELATED_TO", ends[0], ends[1], sentence, sentence)


def _link(kind: str, source: str, target: str, phrase: str, sentence: str) -> dict[str, Any]:
    return {
        "source": _bare(source),
        "target": _bare(target),
        "type": kind,
        "evidence": phrase,
        "quote": phrase,
        "modality": _modality(sentence),
    }


def _claims(text: str, title: str) -> Iterator[dict[str, Any]]:
    for found in _KEY_VALUE.finditer(text):
        yield _claim(title, found[1].strip().lower(), found[2].strip(), found[0].strip())
    for sentence in _sentences(text):
        for found in _FIGURE.finditer(sentence):
            named = not found[1].startswith(("It", "The "))
            attribute = {"costs": "price", "has": "count", "is": "value"}[found[2]]
            yield _claim(_bare(found[1]) if named else title, attribute, found[3], sentence)


def _claim(entity: str, attribute: str, value: str, quote: str) -> dict[str, Any]:
    return {
        "entity": entity,
        "attribute": attribute,
        "value": value,
        "quote": quote,
        "modality": _modality(quote),
    }


def _triage(data: Mapping[str, Any], schema: Schema) -> Any:
    """Keep what says a decision, a plan or a figure."""
    text = " ".join(str(part) for name, part in data.items() if name not in _AROUND)
    words = {"decision": r"\bdecid", "plan": _PLANNED.pattern, "figure": r"\d", "nothing": ""}
    reason = next(name for name, cue in words.items() if re.search(cue, text, re.I))
    return filled(schema, {"keep": reason != "nothing", "reason": reason}, schema)


def _types(data: Mapping[str, Any], schema: Schema) -> Any:
    """Type each numbered item by the words of its phrase, else leave it vague."""
    item = _items(schema, "types")
    rows = []
    for row in _numbered(data):
        said = " ".join(str(part) for part in row.values())
        kinds = [kind for kind, _ in _RELATIONS if kind.lower().replace("_", " ") in said.lower()]
        rows.append({"n": row["n"], "type": kinds[0] if kinds else "RELATED_TO"})
    value = filled(schema, {}, schema)
    value["types"] = [filled(item, row, schema) for row in rows]
    return value


def _numbered(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Find the list of objects that bear a number `n`."""
    for rows in data.values():
        if isinstance(rows, list) and all(isinstance(row, dict) and "n" in row for row in rows):
            return rows
    return []


def _sentences(text: str) -> list[str]:
    return [found[0].strip() for found in _SENTENCE.finditer(text) if found[0].strip()]


def _modality(sentence: str) -> str:
    return "plan" if _PLANNED.search(sentence) else "fact"


def _bare(name: str) -> str:
    found = _WIKILINK.fullmatch(name)
    return (found[1] if found else name).strip()


def _items(schema: Schema, name: str) -> Schema:
    return _resolved(_resolved(schema["properties"][name], schema).get("items", {}), schema)


def _legal(value: Any, schema: Schema, root: Schema) -> Any:
    """Return a value that is known, or the simplest where the schema does not allow it."""
    schema = _resolved(schema, root)
    if "enum" in schema:
        same = [one for one in schema["enum"] if str(one).lower() == str(value).lower()]
        return same[0] if same else schema["enum"][-1]
    return value


def _simplest(schema: Schema, root: Schema) -> Any:
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], {}, root)
    if schema.get("type") == "array":
        return [filled(schema["items"], {}, root)] if schema.get("minItems") else []
    return {"string": "", "integer": 0, "number": 0, "boolean": False, "object": {}}.get(
        str(schema.get("type"))
    )


def _resolved(schema: Schema, root: Schema) -> Schema:
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    return schema
