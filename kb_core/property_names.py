"""How the names of properties are compared. Pure."""

import re

_EDGES = " \t*_-+"
_JOINTS = re.compile(r"[\s_-]+")


def property_key(name: str) -> str:
    """Fold a property's name: `Superseded-By` and `superseded by` are one property.

    >>> property_key("**BDFL-Delegate**")
    'bdfl_delegate'
    """
    return _JOINTS.sub("_", name.strip(_EDGES)).lower()


def last_word(key: str) -> str:
    """Return the last word of a folded name: what it is, whatever it is of.

    >>> last_word("bdfl_delegate")
    'delegate'
    """
    return key.rpartition("_")[2]
