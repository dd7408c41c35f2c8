"""The wording of questions in each language, read from `templates.toml` once.

A wording that a language lacks gives None: no question of that kind is drafted in it.
"""

import datetime as dt
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources as package_files
from typing import Any

from kb_core.text import fold

FALLBACK = "en"
_SETTINGS = ("keys", "ignored")  # tables of the file that are no language


@dataclass(frozen=True)
class Templates:
    """The wordings of one language."""

    code: str
    wordings: Mapping[str, Any]

    def word(self, kind: str, **values: str) -> str | None:
        """Fill the wording of a kind, or return None where the language has none."""
        wording = self.wordings.get(kind)
        return wording.format(**values) if isinstance(wording, str) else None

    def concept(self, concept: str, **values: str) -> str | None:
        """Fill the wording for what a property is about, or return None."""
        wording = self.wordings.get("concepts", {}).get(concept)
        return wording.format(**values) if wording else None

    def inside(self, name: str, question: str) -> str | None:
        """Say in which note a question is to be answered."""
        if self.wordings.get("inside_is_small") and not question.startswith(("I ", "I'")):
            question = question[:1].lower() + question[1:]
        return self.word("inside", name=name, question=question)

    def older(self, concept: str, **values: str) -> str | None:
        """Ask which of two notes is older by what one property of both says."""
        wording = self.wordings.get("older_by", {}).get(concept, self.wordings.get("older"))
        return wording.format(**values) if wording else None

    def text(self, kind: str) -> str:
        """Return an entry as it stands, "" if there is none."""
        return str(self.wordings.get(kind, ""))

    def words(self, kind: str) -> frozenset[str]:
        """Return a list of words, empty if there is none."""
        return frozenset(self.wordings.get(kind, ()))

    def date(self, partial: str) -> str:
        """Write a partial date as the language does.

        >>> templates("en").date("2024-03-14"), templates("ja").date("2024-03")
        ('14 March 2024', '2024年3月')
        """
        year, *rest = partial.split("-")
        if not rest:
            return year
        month = self.wordings["months"][int(rest[0]) - 1]
        kind = "day" if len(rest) > 1 else "month"
        return str(self.wordings[kind].format(y=year, month=month, d=int([*rest, "1"][1])))

    def moment(self, partial: str) -> str:
        """Write a partial date as the answer to "when"."""
        kind = "on_day" if len(partial) == len(dt.date.min.isoformat()) else "on_month"
        return self.word(kind, date=self.date(partial)) or self.date(partial)


@lru_cache(maxsize=1)
def _file() -> Mapping[str, Any]:
    file = package_files.files("eval_assets.suggestions") / "templates.toml"
    return tomllib.loads(file.read_text("utf-8"))


def templates(code: str) -> Templates:
    """Return a language's wordings, English ones for a language that has none."""
    file = _file()
    code = code if code in file and code not in _SETTINGS else FALLBACK
    return Templates(code, file[code])


def languages() -> dict[str, str]:
    """Return the codes of the languages that questions are worded in, by English name."""
    return {value["name"]: code for code, value in sorted(_file().items()) if code not in _SETTINGS}


def key_name(key: str) -> str:
    """Return the folded name under which a property or label is looked up."""
    return " ".join(fold(key).replace("-", " ").replace("_", " ").split())


@lru_cache(maxsize=1)
def _concepts() -> dict[str, str]:
    return {key_name(name): concept for concept, names in _file()["keys"].items() for name in names}


def concept_of(key: str) -> str:
    """Say what a property is about (author, status, …), "" where it is not known."""
    return _concepts().get(key_name(key), "")


@lru_cache(maxsize=8)
def ignored(kind: str) -> frozenset[str]:
    """Return the folded names that say nothing: of `keys`, `labels` or `headings`."""
    return frozenset(key_name(name) for name in _file()["ignored"][kind])
