"""Ask a language model for better types of vague links, forty at a time. Pure.

A model is told the two ends and the phrase of each, not the chunk. Links are put together in the
order of their keys, so that equal links make equal requests.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kb_assets.asking.prompt_files import Prompt, data_block, read_prompt
from kb_assets.asking.vague_links import PROMPT_VERSION, VagueLink, types_digest
from kb_core.ids import canonical_json, content_id
from kb_core.money import model_tokens
from kb_core.ontology import Ontology
from resources.llm import Request

MOST_LINKS = 40  # of one request
_EXPECTED_A_LINK = 15  # tokens of {"n": 12, "type": "POSITIONED_AGAINST"}
_MOST_A_LINK = 40
_AROUND = 20


class Asked(NamedTuple):
    """Some vague links, and what is asked about them."""

    request: Request
    parts: tuple[str, ...]  # the links' own keys, in order
    expected_output: int  # tokens
    input_tokens: int  # all that is sent, estimated


def requests_for(
    links: Sequence[VagueLink],
    identity: str,
    ontology: Ontology,
    answered: Collection[str] = frozenset(),
) -> list[Asked]:
    """Return what is asked about vague links, each key once; `answered` are keys that are known."""
    waiting = {link.key: link for link in links if link.key not in answered}
    ordered = [waiting[key] for key in sorted(waiting)]
    system, schema = system_prompt(ontology), answer_schema(ontology)
    frame = model_tokens(system) + model_tokens(canonical_json(schema))
    types = types_digest(ontology)
    return [_asked(batch, (identity, types), system, schema, frame) for batch in _batches(ordered)]


def system_prompt(ontology: Ontology) -> str:
    """Return what every request begins with: the file, and the types of the ontology."""
    lines = (f"{name}: {', '.join(entry['serves'])}" for name, entry in ontology.links.items())
    return _prompt().fill("system", links="\n".join(lines))


def answer_schema(ontology: Ontology) -> dict[str, Any]:
    """Return the JSON schema of an answer: a type for each number."""
    kind = {"type": "string", "enum": list(ontology.links)}
    item = _object({"n": {"type": "integer"}, "type": kind})
    return _object({"types": {"type": "array", "items": item}})


def _batches(links: Sequence[VagueLink]) -> Iterator[Sequence[VagueLink]]:
    for start in range(0, len(links), MOST_LINKS):
        yield links[start : start + MOST_LINKS]


def _asked(
    links: Sequence[VagueLink],
    decided_by: tuple[str, str],
    system: str,
    schema: Mapping[str, Any],
    frame: int,
) -> Asked:
    rows = [
        {"n": number, "source": link.source, "target": link.target, "phrase": link.phrase}
        for number, link in enumerate(links, 1)
    ]
    text = _prompt().fill("message", data=data_block({"links": rows}))
    parts = tuple(link.key for link in links)
    key = content_id(*decided_by, PROMPT_VERSION, *parts)
    request = Request(key, system, text, schema, _AROUND + _MOST_A_LINK * len(links))
    expected = _AROUND + _EXPECTED_A_LINK * len(links)
    return Asked(request, parts, expected, frame + model_tokens(text))


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _prompt() -> Prompt:
    return read_prompt("retype", PROMPT_VERSION)
