"""Give an authored card its two faces: one to be found by, one to be read. Pure.

A card holds one idea and is one chunk, whatever its size. It is found by its title, aliases,
handles and summary, without the words of its explanations; it is read as clean prose.
"""

from collections.abc import Sequence

from kb_assets.chunks.faces import Property
from kb_assets.chunks.prose import clean_prose, display_text
from kb_assets.chunks.sections import Section
from kb_core.property_names import property_key

CARD_KINDS = frozenset({"card", "researcher", "practitioner", "evidence"})

_HANDLES = frozenset({"handle", "handles", "searchable_handles", "keywords"})
_SUMMARY = "summary"


def read_face(body: str, sections: Sequence[Section]) -> str:
    """Return a card's prose, or its text as it is where nothing of it is prose."""
    blocks = [block for section in sections for block in section.blocks]
    return clean_prose(body, blocks) or body.strip()


def card_search_text(
    title: str,
    aliases: Sequence[str],
    properties: Sequence[Property],
    body: str,
    sections: Sequence[Section],
) -> str:
    """Return a card's search face. A card without a summary is found by all of its prose."""
    handles = property_values(properties, _HANDLES)
    names = list(dict.fromkeys([*aliases, *handles]))
    summary = " ".join(property_values(properties, frozenset({_SUMMARY})))
    summary = summary or _summary_section(body, sections) or read_face(body, sections)
    return "\n".join(part for part in (title, ", ".join(names), summary) if part)


def _summary_section(body: str, sections: Sequence[Section]) -> str:
    for section in sections:
        heading, *blocks = section.blocks
        if heading.level and heading.title.casefold().strip(" :") == _SUMMARY and blocks:
            return clean_prose(body[blocks[0].start : blocks[-1].end], [])
    return ""


def property_values(properties: Sequence[Property], keys: frozenset[str]) -> list[str]:
    """Return the non-empty values of the properties with one of these folded names."""
    values = (
        display_text(item["value"]).strip()
        for item in properties
        if property_key(item["name"]) in keys
    )
    return [value for value in values if value]
