"""Ask a language model whether saved conversations are worth reading: one request each. Pure.

A long conversation is read at four points, because its title and its beginning tell of its first
question alone. The request's key covers the model, the prompt, the answer's form and what is sent.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa

from kb_assets.asking.conversation_verdicts import SCHEMA
from kb_assets.asking.prompt_files import Prompt, data_block, read_prompt
from kb_core.ids import canonical_json, content_id, json_hash
from kb_core.money import model_tokens
from kb_core.tokens import RegexTokenCounter
from resources.llm import Request

PROMPT_VERSION = "1"  # of prompts/triage.md: another one pays again

CHAT = "chat"
MAX_TOKENS = 200
EXPECTED_OUTPUT = 20  # {"keep": true, "reason": "decision"}
_EXCERPT = 400  # tokens
_POINTS = 4
_COUNTER = RegexTokenCounter()
_COLUMNS = ["version_id", "is_current", "title", "kind", "ordinal", "text"]


class Asked(NamedTuple):
    """A saved conversation, and what is asked about it."""

    version_id: str
    request: Request
    expected_output: int  # tokens
    input_tokens: int  # all that is sent, estimated


def requests_for(chunks: pa.Table, identity: str) -> list[Asked]:
    """Return what is asked about a folder's conversations (contract `chunks`), present ones first.

    Equal texts have equal keys. A conversation without a letter is not asked about.
    """
    found = [_asked(rows, identity) for rows in conversations(chunks.select(_COLUMNS))]
    return [each for each in found if each]


def conversations(chunks: pa.Table) -> list[list[dict[str, Any]]]:
    """Return the chunks of each version of a conversation in order, present versions first."""
    rows = [row for row in chunks.to_pylist() if row["kind"] == CHAT]
    rows.sort(key=lambda row: (not row["is_current"], row["version_id"], row["ordinal"]))
    return [list(group) for _, group in groupby(rows, key=lambda row: row["version_id"])]


def excerpts(text: str) -> list[str]:
    """Return a text, or of a long one its start, two points between, and its end."""
    tokens = _COUNTER.count(text)
    if tokens <= _POINTS * _EXCERPT:
        return [text]
    size = len(text) * _EXCERPT // tokens
    last = len(text) - size
    starts = [last * point // (_POINTS - 1) for point in range(_POINTS)]
    return [_at_words(text, start, start + size) for start in starts]


def _asked(rows: list[dict[str, Any]], identity: str) -> Asked | None:
    text = "\n\n".join(row["text"] for row in rows)
    if not any(map(str.isalpha, text)):
        return None
    parts = excerpts(text)
    title = rows[0]["title"]
    sent = _prompt().fill("message", data=data_block({"title": title, "excerpts": parts}))
    system = _prompt().fill("system")
    key = content_id(identity, PROMPT_VERSION, json_hash(SCHEMA), title, *parts)
    request = Request(key, system, sent, SCHEMA, MAX_TOKENS)
    tokens = model_tokens(sent) + _frame(system, SCHEMA)
    return Asked(rows[0]["version_id"], request, EXPECTED_OUTPUT, tokens)


def _frame(system: str, schema: Mapping[str, Any]) -> int:
    return model_tokens(system) + model_tokens(canonical_json(schema))


def _at_words(text: str, start: int, end: int) -> str:
    """Cut a piece out of a text without words that it begins or ends inside of."""
    piece = text[start:end]
    if start and not text[start - 1].isspace():
        piece = piece.partition(" ")[2] or piece
    if end < len(text) and not text[end].isspace():
        piece = piece.rpartition(" ")[0] or piece
    return piece.strip()


def _prompt() -> Prompt:
    return read_prompt("triage", PROMPT_VERSION)
