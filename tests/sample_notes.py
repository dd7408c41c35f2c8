"""Read the sample vault by the simplest means there are: an oracle that shares no code with it.

Front matter is YAML or nothing, a link goes to the folder of its note first and then to the
shortest path, and what a reader may see comes from kb.toml's folder rules.
"""

import calendar
import datetime as dt
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.kb_command import ROOT

VAULT = ROOT / "data" / "sample_vault"
HISTORY = ROOT / "data" / "sample_history"
PRINCIPALS = ROOT / "data" / "eval" / "principals.json"

_FRONT = re.compile(r"---\r?\n(.*?)\r?\n---\r?\n", re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]|#\\]+)")
_NOW = dt.datetime.max.replace(tzinfo=dt.UTC)


@dataclass(frozen=True)
class Principal:
    """Who asks; None stands for all tenants or all groups."""

    tenants: frozenset[str] | None
    groups: frozenset[str] | None

    def sees(self, note: str) -> bool:
        readers = readers_of(note)
        is_tenant = self.tenants is None or tenant_of(note) in self.tenants
        return is_tenant and (self.groups is None or not readers or bool(readers & self.groups))


def read_principals() -> dict[str, Principal]:
    def members(value: Any) -> frozenset[str] | None:
        return None if value == "*" else frozenset(value)

    rows = json.loads(PRINCIPALS.read_text(encoding="utf-8"))
    return {
        name: Principal(members(row["tenants"]), members(row["groups"]))
        for name, row in rows.items()
    }


@cache
def note_paths() -> tuple[str, ...]:
    """Return every note that is read, sorted: none in a folder whose name begins with a dot."""
    found = (path.relative_to(VAULT).as_posix() for path in VAULT.rglob("*.md"))
    return tuple(sorted(path for path in found if "/." not in f"/{path}"))


def decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252")


@cache
def note_text(note: str) -> str:
    return decode((VAULT / note).read_bytes())


def properties_of(text: str) -> dict[str, Any] | None:
    """Return a text's front matter as strings; {} without any, None where YAML refuses it."""
    block = _FRONT.match(text)
    if block is None:
        return {}
    try:
        read = yaml.load(block[1], yaml.BaseLoader)  # noqa: S506 - strings only, no objects
    except yaml.YAMLError:
        return None
    return read if isinstance(read, dict) else None


@cache
def properties(note: str) -> dict[str, Any]:
    return properties_of(note_text(note)) or {}


def linked(values: dict[str, Any], name: str) -> list[str]:
    """Return the link targets under a property."""
    stated = values.get(name, [])
    texts = stated if isinstance(stated, list) else [stated]
    return [found[1].strip() for text in texts for found in _LINK.finditer(text)]


def body_links(text: str) -> Iterator[str]:
    return (found[1].strip() for found in _LINK.finditer(_FRONT.sub("", text, count=1)))


@cache
def meant(source: str, target: str) -> tuple[str, ...]:
    """Return the notes a link could mean, best first."""
    ending = "/" + target.removesuffix(".md").lower() + ".md"
    found = [path for path in note_paths() if f"/{path}".lower().endswith(ending)]
    folder = source.rpartition("/")[0]
    return tuple(sorted(found, key=lambda path: (path.rpartition("/")[0] != folder, len(path))))


def named(name: str) -> list[str]:
    """Return the assets with this title or alias, without regard to case."""
    wanted = name.lower()
    found = []
    for note in note_paths():
        values = properties(note)
        if values.get("type") == "asset":
            names = [values.get("title", ""), *values.get("aliases", [])]
            found += [note] if wanted in (each.lower() for each in names) else []
    return found


@cache
def folder_rules() -> tuple[dict[str, Any], ...]:
    settings = tomllib.loads((ROOT / "kb.toml").read_text(encoding="utf-8"))
    return tuple(settings.get("folders", []))


def rule_for(note: str) -> dict[str, Any]:
    return next((rule for rule in folder_rules() if note.startswith(rule["path"] + "/")), {})


def tenant_of(note: str) -> str:
    return str(properties(note).get("tenant") or rule_for(note).get("tenant") or "main")


def readers_of(note: str) -> frozenset[str]:
    return frozenset(properties(note).get("readers") or rule_for(note).get("readers") or ())


def is_private(note: str) -> bool:
    return bool(rule_for(note).get("private"))


@cache
def available(note: str) -> dt.datetime:
    """Return from when on a note may be known: what it states, else the end of its day."""
    values = properties(note)
    stated = values.get("available_at") or values.get("date") or values.get("created")
    return instant(stated) if stated else _NOW


def instant(text: str | None) -> dt.datetime:
    """Read an instant, or the end of a day or month; None is now, later than everything."""
    if text is None:
        return _NOW
    if ":" in text:
        return dt.datetime.fromisoformat(text)
    year, month, *day = (int(part) for part in text.split("-"))
    last = day[0] if day else calendar.monthrange(year, month)[1]
    return dt.datetime(year, month, last, 23, 59, 59, 999_999, tzinfo=dt.UTC)


def history_rows() -> list[dict[str, Any]]:
    lines = (HISTORY / "history.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def version_bytes(row: dict[str, Any]) -> bytes | None:
    """Return what a note held from a row of the history on; None: it was gone."""
    if row["file"] is None:
        return None
    place: Path = VAULT / row["note"] if row["file"] == "vault" else HISTORY / row["file"]
    return place.read_bytes()
