"""What a sensor remembers from tick to tick: its cursor. Pure.

It is small: a hash per folder, and a line for what was asked for or waits. Nothing depends on it:
without it, or with one that cannot be read, the home's own tables are compared with the vault.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_FORMAT = 1
_FIRST_WAIT = 30.0  # seconds until what failed is asked for again; doubled each time
_LONGEST_WAIT = 3600.0


@dataclass(frozen=True)
class Asked:
    """A run that was asked for: over which state of things, how often, when last."""

    situation: str
    times: int
    at: float  # seconds since 1970

    def again(self, situation: str, now: float) -> "Asked":
        """Return what is remembered when it is asked for once more."""
        return Asked(situation, self.times + 1 if self.situation == situation else 1, now)

    def next_at(self) -> float:
        """Return when it may be asked for again if the last run did not help."""
        return self.at + min(_FIRST_WAIT * 2 ** min(self.times - 1, 20), _LONGEST_WAIT)


NEVER = Asked("", 0, 0.0)


@dataclass(frozen=True)
class Seen:
    """A change that is waited on: over which state of things, since when, in which words."""

    situation: str
    at: float = 0.0
    words: str = ""


@dataclass
class Memory:
    """The cursor of `vault_changes`, by partition key."""

    swept_at: float = 0.0
    done: dict[str, str] = field(default_factory=dict)  # signature whose words are up to date
    changed: dict[str, Seen] = field(default_factory=dict)  # signatures that are not done yet
    waits: dict[str, Seen] = field(default_factory=dict)  # what a person has to decide on
    words: dict[str, Asked] = field(default_factory=dict)
    vectors: dict[str, Asked] = field(default_factory=dict)
    vault: dict[str, Asked] = field(default_factory=dict)  # "asked", "lines"
    lagging_since: float = 0.0  # since when links and build are behind the folders; 0: they aren't

    @classmethod
    def read(cls, cursor: str | None) -> "Memory":
        """Read a cursor. One that is absent, damaged or of another version is an empty one."""
        try:
            values = json.loads(cursor or "")
            if values["format"] != _FORMAT:
                return cls()
            return cls(
                swept_at=float(values["swept_at"]),
                done={str(key): str(hash_) for key, hash_ in values["done"].items()},
                changed=_seen(values["changed"]),
                waits=_seen(values["waits"]),
                words=asked(values["words"]),
                vectors=asked(values["vectors"]),
                vault=asked(values["vault"]),
                lagging_since=float(values["lagging_since"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return cls()

    def write(self) -> str:
        """Return the cursor's text: one line of JSON."""
        return json.dumps(
            {
                "format": _FORMAT,
                "swept_at": round(self.swept_at, 3),
                "done": self.done,
                "changed": _rows(self.changed),
                "waits": _rows(self.waits),
                "words": _rows(self.words),
                "vectors": _rows(self.vectors),
                "vault": _rows(self.vault),
                "lagging_since": round(self.lagging_since, 3),
            },
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
        )

    def forget_all_but(self, keys: Iterable[str]) -> None:
        """Forget the folders that are no folders any more."""
        kept = set(keys)
        held: dict[str, Any]
        for held in (self.done, self.changed, self.waits, self.words, self.vectors):
            for key in sorted(set(held) - kept):
                del held[key]


def asked(rows: Mapping[str, Any]) -> dict[str, Asked]:
    """Read what was asked for. Raises ValueError, TypeError for what is none."""
    return {
        str(key): Asked(str(situation), int(times), float(at))
        for key, (situation, times, at) in rows.items()
    }


def _seen(rows: Mapping[str, Any]) -> dict[str, Seen]:
    return {
        str(key): Seen(str(situation), float(at), str(words))
        for key, (situation, at, words) in rows.items()
    }


def _rows(held: Mapping[str, Asked] | Mapping[str, Seen]) -> dict[str, list[Any]]:
    return {key: list(vars(each).values()) for key, each in held.items()}
