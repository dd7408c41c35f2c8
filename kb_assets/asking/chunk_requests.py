"""Ask a language model what chunks say: one request each, with all that decides its answer. Pure.

A request's key covers the model, the prompt, the form of the answer and every word that is sent of
a note. The types of the ontology are not in it: what was paid for stays paid for when one is added.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from kb_assets.asking.chunk_schema import answer_schema, shape
from kb_assets.asking.prompt_files import Prompt, data_block, read_prompt
from kb_core.ids import canonical_json, content_id
from kb_core.money import model_tokens
from kb_core.ontology import Ontology
from resources.llm import Request

VERSION = "1"  # raise it when equal chunks would be asked about in another way
PROMPT_VERSION = "1"  # of prompts/extract.md: another one pays again

_COLUMNS = [
    *("version_id", "chunk_id", "is_current", "breadcrumb", "kind", "text"),
    *("written_date", "written_is_weak"),
]
_STEM = 5  # letters by which a plural is known
# What was paid elsewhere: $3.60 for 4,779 chunks of 837 tokens in the middle, at $0.10 a million
# in and $0.50 out: 753,000 nano-dollars each. Such a chunk counts 950 to 1,500 tokens here, prompt
# and schema 2,900. With the output below that makes $3.68 to $4.86: rather too much than less.
_FEWEST_OUT = 100
_OUT_OF_TEN = 7  # tokens for ten of the text
_ROOM_TO_ANSWER = 500
_MOST_OUT = 4_000


class Asked(NamedTuple):
    """A chunk, and what is asked about it."""

    version_id: str
    chunk_id: str
    request: Request
    expected_output: int  # tokens
    input_tokens: int  # all that is sent, estimated


def requests_for(chunks: pa.Table, identity: str, ontology: Ontology) -> list[Asked]:
    """Return what is asked about the chunks of a folder (contract `chunks`), in order.

    What is present comes first, older versions last. Equal texts have equal keys and stand here as
    often as they stand there. A chunk without a letter is not asked about.
    """
    schema = answer_schema(ontology)
    rows = chunks.select(_COLUMNS).to_pylist()
    wanted = [row for row in rows if any(map(str.isalpha, row["text"]))]
    wanted.sort(key=lambda row: not row["is_current"])
    system = system_prompt(ontology)
    frame = model_tokens(system) + model_tokens(canonical_json(schema))
    return [_asked(row, identity, system, schema, frame) for row in wanted]


@lru_cache(maxsize=8)
def _system(types: tuple[str, ...], links: tuple[str, ...]) -> str:
    return _prompt().fill("system", types="\n".join(types), links="\n".join(links))


def system_prompt(ontology: Ontology) -> str:
    """Return what every request begins with: the file, and the types of the ontology."""
    return _system(tuple(_type_lines(ontology)), tuple(_link_lines(ontology)))


def expected_output(text_tokens: int) -> int:
    """Return how many tokens the answer about a text of so many has, as far as anybody knows.

    >>> expected_output(0), expected_output(1_500)
    (100, 1150)
    """
    return _FEWEST_OUT + text_tokens * _OUT_OF_TEN // 10


def _asked(
    row: Mapping[str, Any], identity: str, system: str, schema: Mapping[str, Any], frame: int
) -> Asked:
    data = _data(row)
    text = _prompt().fill("message", data=data_block(data))
    key = content_id(identity, PROMPT_VERSION, shape(), *data.values())
    tokens = model_tokens(row["text"])
    request = Request(key, system, text, schema, min(_ROOM_TO_ANSWER + 3 * tokens, _MOST_OUT))
    expected = min(expected_output(tokens), request.max_tokens)
    return Asked(row["version_id"], row["chunk_id"], request, expected, frame + model_tokens(text))


def _data(row: Mapping[str, Any]) -> dict[str, str]:
    """Return all that is sent of a note.

    A weak date is not: it changes with every save, and with it every chunk would be a new question.
    """
    is_dated = row["written_date"] and not row["written_is_weak"]
    return {
        "breadcrumb": row["breadcrumb"],
        "date": row["written_date"] if is_dated else "",
        "kind": row["kind"],
        "text": row["text"],
    }


def _type_lines(ontology: Ontology) -> Iterator[str]:
    """Yield each type with one other word for it, if there is one that is no plural of it."""
    for name, words in ontology.types.items():
        others = [word for word in words if not word.startswith(name.lower()[:_STEM])]
        yield f"{name}: {others[0]}" if others else name


def _link_lines(ontology: Ontology) -> Iterator[str]:
    for name, entry in ontology.links.items():
        yield f"{name}: {', '.join(entry['serves'])}"


def _prompt() -> Prompt:
    return read_prompt("extract", PROMPT_VERSION)
