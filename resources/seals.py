"""Small JSON files with a seal: the hash of what they hold, so that one changed bit is found out.

Content-named files need none; pointers, records and reports are replaced in place under one name.
What a version before seals wrote is read as it is. Pure: bytes in, values out.
"""

import json
from typing import Any

from kb_core.ids import json_hash

_SEAL, _VALUES = "seal", "values"


def sealed(values: Any, *, indent: int | None = 1) -> bytes:
    """Return the JSON text of the values and their seal; one line if `indent` is None."""
    # Through JSON first: a seal must fit what a reader gets, and JSON turns keys into text.
    plain = json.loads(json.dumps(values, ensure_ascii=False))
    whole = {_SEAL: json_hash(plain), _VALUES: plain}
    separators = (",", ":") if indent is None else None
    return json.dumps(whole, ensure_ascii=False, indent=indent, separators=separators).encode()


def unsealed(data: bytes) -> Any:
    """Return the values. Raises ValueError when they are not those that were sealed."""
    found = json.loads(data)
    if not is_sealed(found):
        return found
    if set(found) != {_SEAL, _VALUES} or json_hash(found[_VALUES]) != found[_SEAL]:
        raise ValueError("the seal does not fit the values")
    return found[_VALUES]


def is_sealed(found: Any) -> bool:
    """Tell whether a parsed file has a seal, sound or broken.

    One of the two keys is enough: a flipped bit in the other must not make the file look old.
    """
    return isinstance(found, dict) and bool({_SEAL, _VALUES} & set(found))
