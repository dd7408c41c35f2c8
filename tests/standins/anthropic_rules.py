"""What Anthropic's service refuses, as far as this project could ever send it. Pure.

A schema or a parameter that the real service would not take must fail in our tests, not in
somebody's first paid run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_PARAMETERS = {
    "max_tokens", "messages", "model", "cache_control", "container", "diagnostics",
    "inference_geo", "metadata", "output_config", "service_tier", "speed", "stop_sequences",
    "stream", "system", "thinking", "tool_choice", "tools",
}  # fmt: skip
_KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
    "allOf", "$ref", "$defs", "description", "title", "format", "minItems",
}  # fmt: skip
_FORMATS = {
    "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid",
}  # fmt: skip
_EFFORTS = {"low", "medium", "high", "xhigh", "max"}
_MOST_OPTIONAL, _MOST_UNIONS = 24, 16
_CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Traits:
    """What a model takes."""

    has_effort: bool = True
    has_schemas: bool = True
    window: int = 1_000_000
    most_output: int = 64_000


class RefusedError(Exception):
    """The service says no."""

    def __init__(self, status: int, kind: str, words: str, code: str = "") -> None:
        super().__init__(words)
        self.status, self.kind, self.words, self.code = status, kind, words, code


def check_key(headers: dict[str, str], key: str) -> None:
    """Refuse a request without the right key or without a version."""
    given = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("x-api-key")
    if given != key:
        raise RefusedError(401, "authentication_error", "invalid x-api-key")
    if "anthropic-version" not in headers:
        raise _invalid("anthropic-version: header is required")


def check_message(body: Any, models: dict[str, Traits]) -> None:
    """Refuse what `messages.create` may not say."""
    if not isinstance(body, dict):
        raise _invalid("the body must be an object")
    for name in sorted(set(body) - _PARAMETERS):
        raise _invalid(f"{name}: Extra inputs are not permitted")
    if not isinstance(body.get("model"), str):
        raise _invalid("model: Field required")
    traits = models.get(body["model"])
    if traits is None:
        raise RefusedError(404, "not_found_error", f"model: {body['model']}")
    _check_size(body, traits)
    _check_texts(body)
    _check_output(body.get("output_config") or {}, traits)


def check_batch(body: Any, models: dict[str, Traits]) -> None:
    """Refuse a parcel that is none, or whose ids are not."""
    if not isinstance(body, dict) or set(body) != {"requests"} or not body["requests"]:
        raise _invalid("requests: Field required")
    if len(body["requests"]) > 100_000:
        raise RefusedError(413, "request_too_large", "too many requests in a batch")
    ids = [one.get("custom_id") for one in body["requests"]]
    for one in ids:
        if not isinstance(one, str) or not _CUSTOM_ID.fullmatch(one):
            raise _invalid("requests: custom_id: String should match pattern")
    if len(set(ids)) < len(ids):
        raise _invalid("requests: custom_id must be unique within a batch")
    for one in body["requests"]:
        check_message(one.get("params"), models)
        if one["params"].get("stream"):
            raise _invalid("requests: stream: not supported in batches")


def check_schema(schema: Any) -> None:
    """Refuse a schema that could not be compiled."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise _invalid("output_config.format.schema: the root must be an object")
    _refuse_cycles(schema, schema, ())
    optional = unions = 0
    for part in _parts(schema):
        _check_part(part)
        optional += len(set(part.get("properties", {})) - set(part.get("required", ())))
        unions += "anyOf" in part or isinstance(part.get("type"), list)
    if optional > _MOST_OPTIONAL:
        raise _invalid(f"schema has {optional} optional parameters (at most {_MOST_OPTIONAL})")
    if unions > _MOST_UNIONS:
        raise _invalid(f"schema has {unions} union-typed parameters (at most {_MOST_UNIONS})")


def _check_size(body: dict[str, Any], traits: Traits) -> None:
    size = body.get("max_tokens")
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise _invalid("max_tokens: Field required")
    if size > traits.most_output:
        raise _invalid(f"max_tokens: {size} > {traits.most_output}")


def _check_texts(body: dict[str, Any]) -> None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _invalid("messages: Field required")
    for message in messages:
        if message.get("role") not in ("user", "assistant"):
            raise _invalid("messages: unknown role")
        if not message.get("content"):
            raise _invalid("messages: text content blocks must be non-empty")
    if messages[0]["role"] != "user" or messages[-1]["role"] != "user":
        raise _invalid("messages: the first and the last must be the user's")
    if not isinstance(body.get("system", ""), str | list):
        raise _invalid("system: Input should be a valid string")


def _check_output(config: dict[str, Any], traits: Traits) -> None:
    for name in sorted(set(config) - {"effort", "format"}):
        raise _invalid(f"output_config.{name}: Extra inputs are not permitted")
    if config.get("effort") is not None:
        if not traits.has_effort:
            raise _invalid("output_config.effort: This model does not support the effort parameter")
        if config["effort"] not in _EFFORTS:
            raise _invalid("output_config.effort: unknown")
    form = config.get("format")
    if form is not None:
        if not traits.has_schemas:
            raise _invalid("output_config.format: not supported by this model")
        if set(form) != {"type", "schema"} or form["type"] != "json_schema":
            raise _invalid("output_config.format: type and schema are required")
        check_schema(form["schema"])


def _check_part(part: dict[str, Any]) -> None:
    for name in sorted(set(part) - _KEYWORDS):
        raise _invalid(f"output_config.format.schema: {name} is not supported")
    if part.get("type") == "object" and part.get("additionalProperties") is not False:
        raise _invalid("schema: 'additionalProperties' must be explicitly set to false")
    if part.get("type") == "array" and "items" not in part:
        raise _invalid("schema: an array needs items")
    if part.get("minItems", 0) not in (0, 1):
        raise _invalid("schema: minItems other than 0 or 1 is not supported")
    if part.get("format", "date") not in _FORMATS:
        raise _invalid("schema: this string format is not supported")
    if set(part.get("required", ())) - set(part.get("properties", {})):
        raise _invalid("schema: required names an unknown property")


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every schema inside a schema, itself first."""
    yield schema
    for name in ("properties", "$defs"):
        for part in schema.get(name, {}).values():
            yield from _parts(part)
    for name in ("anyOf", "allOf"):
        for part in schema.get(name, ()):
            yield from _parts(part)
    if isinstance(schema.get("items"), dict):
        yield from _parts(schema["items"])


def _refuse_cycles(part: Any, root: dict[str, Any], above: tuple[str, ...]) -> None:
    if "$ref" in part:
        name = str(part["$ref"]).removeprefix("#/$defs/")
        if name not in root.get("$defs", {}):
            raise _invalid("schema: $ref leads nowhere")
        if name in above:
            raise _invalid("schema: recursive schemas are not supported")
        _refuse_cycles(root["$defs"][name], root, (*above, name))
        return
    below = [*part.get("properties", {}).values(), *part.get("anyOf", ()), *part.get("allOf", ())]
    if isinstance(part.get("items"), dict):
        below.append(part["items"])
    for one in below:
        _refuse_cycles(one, root, above)


def _invalid(words: str) -> RefusedError:
    return RefusedError(400, "invalid_request_error", words)
