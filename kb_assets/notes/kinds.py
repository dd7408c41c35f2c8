"""Say what kind of note this is, who may read it and where it may be sent. Pure.

The note's own front matter comes first, then the nearest folder rule. Two things only go one
way: a note can make itself private, but nothing in its text lifts a private folder rule, and a
folder that is not listed for sending is never sent.
"""

import re
from collections.abc import Iterator, Sequence

from kb_assets.notes.yaml_strings import Property
from kb_core.folder_rules import is_listed, is_ruled_private, ruled_readers, ruled_tenant, rules_for
from kb_core.settings import FolderRule

KNOWN_KINDS = frozenset(
    {"note", "wiki", "chat", "card", "researcher", "practitioner", "evidence", "section"}
)
_KIND = re.compile(r"\w[\w-]{0,39}")
_FALSE = frozenset({"false", "no", "n", "off", "0"})

_USER = r"user|human|you|me|用户|我"
_ASSISTANT = r"assistant|ai|chatgpt|claude|gpt(?:-[0-9.o]{1,5})?|gemini|copilot|助手|助理"
_ROLE = rf"(?:{_USER}|(?P<NAME>{_ASSISTANT}))(?:[ \t]{{1,3}}said)?"
# A heading that is a speaker, or a bold speaker with a colon. Blanks are bounded: a line of a
# thousand of them must not be tried from each.
_TURN = re.compile(
    rf"\n(?:\#{{1,6}}[ \t]{{1,3}}(?:\*\*)?{_ROLE.replace('NAME', 'titled')}(?:\*\*)?"
    rf"[ \t]{{0,3}}[:：]?(?:\*\*)?[ \t]{{0,3}}\r?$"
    rf"|\*\*{_ROLE.replace('NAME', 'bold')}"
    r"[ \t]{0,3}(?:[:：][ \t]{0,3}\*\*|\*\*[ \t]{0,3}[:：]))",
    re.IGNORECASE | re.MULTILINE,
)
_FEWEST_TURNS = 4
_CHAT_BEGINS_WITHIN = 1 << 18  # characters; no conversation has its first answer further down


def values_of(properties: Sequence[Property], *names: str) -> Iterator[Property]:
    """Yield the properties with one of the names, without regard to case."""
    return (each for each in properties if each.name.lower() in names)


def first_value(properties: Sequence[Property], *names: str) -> str | None:
    """Return the first value under one of the names, or None."""
    return next((each.value for each in values_of(properties, *names)), None)


def kind_of(
    note_id: str, properties: Sequence[Property], rules: Sequence[FolderRule], text: str
) -> str:
    """Name a note's kind: `kind`, a known `type`, the folder's rule, the shape of a chat."""
    stated = (first_value(properties, "kind") or "").strip().lower()
    typed = (first_value(properties, "type") or "").strip().lower()
    if _KIND.fullmatch(stated):
        return stated
    if typed in KNOWN_KINDS:
        return typed
    ruled = next((rule.kind for rule in rules_for(note_id, rules) if rule.kind), None)
    return ruled or ("chat" if is_chat(text) else "note")


def is_chat(text: str) -> bool:
    """Say whether a text has the shape of a saved conversation: four turns, both sides speak.

    Turns are lines such as `**User:**`, `## Assistant` or `**助手：**`.
    """
    users = assistants = 0
    # Led by a break like every other line, the first is found by a search for breaks alone, which
    # is ten times as fast as one for the beginnings of lines.
    for turn in _TURN.finditer("\n" + text[:_CHAT_BEGINS_WITHIN]):
        is_assistant = bool(turn["titled"] or turn["bold"])
        users, assistants = users + (not is_assistant), assistants + is_assistant
        if users and assistants and users + assistants >= _FEWEST_TURNS:
            return True
    return False


def tenant_of(
    note_id: str, properties: Sequence[Property], rules: Sequence[FolderRule], default: str
) -> str:
    """Name whose note this is."""
    stated = (first_value(properties, "tenant") or "").strip()
    return stated or ruled_tenant(note_id, rules, default)


def readers_of(
    note_id: str, properties: Sequence[Property], rules: Sequence[FolderRule]
) -> list[str]:
    """List who may read the note, sorted; empty means everybody in its tenant."""
    stated = split_values(values_of(properties, "readers"))
    return sorted(set(stated)) if stated else ruled_readers(note_id, rules)


def is_private(
    note_id: str,
    front_matter: Sequence[Property],
    body: Sequence[Property],
    rules: Sequence[FolderRule],
) -> bool:
    """Say whether a note is private: by its properties, or by its folder's rule.

    In front matter every value but a clear no counts as yes: a misspelt `ture` must not open a
    note. In the body, where the word may be about anything, only a clear yes does.
    """
    stated = (each.value.strip().lower() for each in values_of(front_matter, "private"))
    fields = (each.value.strip().lower() for each in values_of(body, "private"))
    return (
        is_ruled_private(note_id, rules)
        or any(value not in _FALSE for value in stated)
        or any(value in ("true", "yes", "y", "on", "1") for value in fields)
    )


def may_leave(note_id: str, allowed: Sequence[str], private: bool) -> bool:
    """Say whether a note may be sent to a hosted model: its folder is listed, and not private."""
    return not private and is_listed(note_id, allowed)


def split_values(properties: Iterator[Property]) -> list[str]:
    """Return the texts of a list property; a plain text is split at its commas."""
    parts = (
        part.strip()
        for each in properties
        for part in ([each.value] if each.is_whole else each.value.split(","))
    )
    return list(dict.fromkeys(part for part in parts if part))
