"""Check what an ontology file says before anything is built on it. Pure.

A wrong key, type or word is refused with its place and what is allowed there.
"""

from collections.abc import Collection, Mapping
from typing import Any

from kb_core.errors import SettingsError
from kb_core.property_names import property_key

LISTS = (
    *("modalities", "silent", "whole_only", "identifiers", "type_properties", "no_types"),
    *("state_cues", "date_columns"),
)
# What stands under each table of tables: the keys of an entry, and which of them are lists.
_ENTRIES: Mapping[str, Mapping[str, type]] = {
    "types": {"words": list, "serves": list},
    "states": {"modality": str, "words": list, "of_text": bool},
    "attributes": {"properties": list, "with_prefix": bool, "of_note": bool},
    "links": {
        "properties": list,
        "inverse_properties": list,
        "value": str,
        "of_note": bool,
        "serves": list,
    },
}
TABLES = (*_ENTRIES, "areas")
MODALITIES = ("fact", "reported", "plan", "opinion", "hypothetical", "ai_suggestion")
_NAMES = {list: "a list of texts", str: "a text", bool: "true or false"}
_TAKEN = {
    "links": ("properties", "inverse_properties"),
    "attributes": ("properties",),
}


def check_file(values: Mapping[str, Any], where: str) -> None:
    """Refuse keys and values that mean nothing. Raises SettingsError."""
    _allowed(values, (*LISTS, *TABLES), where)
    for key in LISTS:
        _typed(values.get(key, []), list, f"{where}: {key}")
    for table in TABLES:
        if not isinstance(values.get(table, {}), dict):
            raise SettingsError(f"{where}: {table} is no table. Write [{table}.NAME] above a key.")
    for table, keys in _ENTRIES.items():
        for name, entry in values.get(table, {}).items():
            place = f"{where}: {table}.{name}"
            if not isinstance(entry, dict):
                raise SettingsError(f"{place} is no table. Write [{table}.{name}] above its keys.")
            _allowed(entry, keys, place)
            for key, value in entry.items():
                _typed(value, keys[key], f"{place}.{key}")


def check_whole(values: Mapping[str, Any], where: str) -> None:
    """Refuse an ontology whose parts don't fit together. Raises SettingsError.

    Every type serves a question, every state has a modality, and no property means two things.
    """
    areas = values["areas"]
    for table in ("types", "links"):
        for name, entry in values[table].items():
            _one_of(entry.get("serves", []), areas, f"{where}: {table}.{name}.serves")
            if not entry.get("serves"):
                raise SettingsError(
                    f"{where}: {table}.{name} serves no question. Give it `serves = [...]` with "
                    f"one of {', '.join(areas)}, or leave it out."
                )
    _one_of(values["modalities"], MODALITIES, f"{where}: modalities")
    for name, entry in values["states"].items():
        modality = entry.get("modality", "")
        _one_of([modality], values["modalities"], f"{where}: states.{name}.modality")
    for name, entry in values["links"].items():
        value = [entry["value"]] if entry.get("value") else []
        _one_of(value, values["types"], f"{where}: links.{name}.value")
    _unique(values, where)


def merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Put a home's own ontology over another: lists grow, a key replaces its like.

    A property that the home gives to one of its keys is no longer that of another.
    """
    found: dict[str, Any] = {
        key: list(dict.fromkeys((*base.get(key, []), *own.get(key, [])))) for key in LISTS
    }
    taken = {
        property_key(each)
        for table in _TAKEN
        for name, entry in own.get(table, {}).items()
        for each in _names(table, name, entry)
    }
    for table in TABLES:
        kept = base.get(table, {})
        if table in _TAKEN:
            kept = {
                name: _without(table, entry, taken)
                for name, entry in kept.items()
                if table != "attributes" or property_key(name) not in taken
            }
        found[table] = {**kept, **own.get(table, {})}
    return found


def _names(table: str, name: str, entry: Mapping[str, Any]) -> list[str]:
    """Return the properties of a link or an attribute, whose own name is one of them."""
    own = [name] if table == "attributes" else []
    return [*own, *(each for key in _TAKEN[table] for each in entry.get(key, []))]


def _without(table: str, entry: Mapping[str, Any], taken: Collection[str]) -> dict[str, Any]:
    lists = {
        key: [each for each in entry.get(key, []) if property_key(each) not in taken]
        for key in _TAKEN[table]
    }
    return {**entry, **lists}


def _unique(values: Mapping[str, Any], where: str) -> None:
    """Refuse a property that belongs to two links or attributes: nobody could tell which."""
    owners: dict[str, str] = {}
    for table in _TAKEN:
        for name, entry in values[table].items():
            for each in dict.fromkeys(map(property_key, _names(table, name, entry))):
                other = owners.setdefault(each, f"{table}.{name}")
                if other != f"{table}.{name}":
                    raise SettingsError(
                        f"{where}: the property {each!r} stands under {other} and under "
                        f"{table}.{name}. Leave it in one of them."
                    )


def _allowed(values: Mapping[str, Any], keys: Collection[str], where: str) -> None:
    for key in values:
        if key not in keys:
            raise SettingsError(f"{where}: {key!r} means nothing. Allowed: {', '.join(keys)}.")


def _typed(value: Any, kind: type, where: str) -> None:
    is_right = isinstance(value, kind)
    if is_right and kind is list:
        is_right = all(isinstance(each, str) and each for each in value)
    if not is_right:
        raise SettingsError(f"{where} has to be {_NAMES[kind]}.")


def _one_of(values: Collection[str], allowed: Collection[str], where: str) -> None:
    for value in values:
        if value not in allowed:
            raise SettingsError(f"{where} = {value!r} is none of {', '.join(allowed)}.")
