"""Make a vault that links to itself in every way Obsidian knows, and say what it holds. Seeded.

What each link means is decided before it is written, so that whoever reads the vault can be
checked against `Made`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from benchmarks.structure_words import SECTIONS, Words
from kb_core.link_targets import fold

NOTES, WORDS, FOLDERS = 13_284, 14_000_000, 13
LINKS_PER_NOTE = 45_000 / NOTES
DANGLING_PER_LINK = 1_571 / 45_000
_MARKDOWN_PER_LINK = 0.15  # further links, written as Markdown
_MENTIONS_PER_NOTE = 2
_ATTACHMENTS = 300
_TWINS = 0.015  # notes named as one in another folder


@dataclass(frozen=True)
class Made:
    """What a made vault holds."""

    notes: int
    words: int
    links: Mapping[str, int]  # status, as the resolver names them -> links
    wikilinks: int


class _Note(NamedTuple):
    folder: str
    name: str
    aliases: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}.md"


@dataclass
class _Insert:
    """What is written into one note beside its words."""

    sentences: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)


def make_linked_vault(root: Path, notes: int, words: int, seed: int = 1) -> Made:
    """Write `notes` notes of about `words` words in all into 13 folders of unequal size."""
    rng = np.random.default_rng(seed)
    writer = Words(rng)
    plan = _plan(rng, writer, notes)
    links = _Links(rng, plan)
    inserts: list[_Insert] = [_Insert() for _ in plan]
    links.write(inserts)
    sizes = rng.lognormal(0, 0.8, notes)
    lengths = np.maximum(20, sizes / sizes.sum() * words).astype(int)
    for folder in {note.folder for note in plan}:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for number, note in enumerate(plan):
        parts = list(writer.paragraphs(int(lengths[number])))
        text = _text(rng, note, number, parts, inserts[number])
        (root / note.path).write_text(text, "utf-8")
    for number in range(_ATTACHMENTS):
        (root / plan[0].folder / f"image {number:03}.png").write_bytes(b"\x89PNG")
    return Made(notes, int(lengths.sum()), dict(links.planned), links.wikilinks)


def _plan(rng: np.random.Generator, writer: Words, notes: int) -> list[_Note]:
    shares = np.sqrt(np.arange(1, FOLDERS + 1))
    homes = rng.choice(FOLDERS, notes, p=shares / shares.sum())
    taken: set[str] = set()
    plan: list[_Note] = []
    for number in range(notes):
        folder = f"Folder {homes[number]:02}" + ("/Deeper" if number % 7 == 0 else "")
        name = _name(rng, writer, plan, number)
        if fold(f"{folder}/{name}") in taken:
            name = f"{name} {number}"
        taken.add(fold(f"{folder}/{name}"))
        aliases = (f"{writer.title()} {number:x}",) if number % 5 == 0 else ()
        plan.append(_Note(folder, name, aliases))
    return plan


def _name(rng: np.random.Generator, writer: Words, plan: Sequence[_Note], number: int) -> str:
    if plan and rng.random() < _TWINS:
        return plan[int(rng.integers(len(plan)))].name
    if number % 25 == 1:
        return f"{2019 + number % 7}-{number % 12 + 1:02}-{number % 28 + 1:02}"
    if number % 50 == 2:
        return f"会议记录{number}"
    return writer.title()


class _Links:
    """Decides what links to what, and writes it in every form there is."""

    def __init__(self, rng: np.random.Generator, plan: Sequence[_Note]) -> None:
        self.planned: Counter[str] = Counter()
        self.wikilinks = round(LINKS_PER_NOTE * len(plan))
        self._rng = rng
        self._plan = plan
        # A few notes are linked to often, as everywhere.
        ranks = rng.permutation(len(plan)) + 1
        self._weights = np.cumsum(1 / ranks**0.7 / (1 / ranks**0.7).sum())
        self._named = [note for note in plan if note.aliases]

    def write(self, inserts: Sequence[_Insert]) -> None:
        """Spread all links and mentions over the notes."""
        dangling = round(DANGLING_PER_LINK * self.wikilinks)
        kinds = list(self._kinds())
        weights = np.array([weight for weight, _ in kinds])
        chosen = self._rng.choice(len(kinds), self.wikilinks - dangling, p=weights / weights.sum())
        makers = [kinds[at][1] for at in chosen] + [_dangling] * dangling
        makers += [_markdown] * round(_MARKDOWN_PER_LINK * self.wikilinks)
        sources = self._rng.integers(0, len(inserts), len(makers))
        for source, make in zip(sources.tolist(), makers, strict=True):
            self.planned[make(self, inserts[source])] += 1
        for insert in inserts:
            for _ in range(_MENTIONS_PER_NOTE):
                insert.sentences.append(f"It was {self.target().name} again")

    def target(self) -> _Note:
        """Choose a note to link to."""
        at = int(np.searchsorted(self._weights, self._rng.random()))
        return self._plan[min(at, len(self._plan) - 1)]

    def named(self) -> _Note:
        """Choose a note that has an alias."""
        return self._named[int(self._rng.integers(len(self._named)))]

    def number(self, below: int) -> int:
        """Draw a number."""
        return int(self._rng.integers(below))

    @staticmethod
    def _kinds() -> Iterator[tuple[float, Callable[["_Links", _Insert], str]]]:
        yield 0.40, lambda links, note: _say(note, f"[[{links.target().name}]]")
        yield 0.03, lambda links, note: _say(note, f"[[{links.target().name.lower()}]]")
        yield 0.17, lambda links, note: _say(note, f"[[{links.target().name}|as shown]]")
        yield 0.12, lambda links, note: _say(note, f"[[{links.target().name}#{_section(links)}]]")
        yield 0.04, lambda links, note: _say(note, f"[[{links.target().name}#^b{links.number(9)}]]")
        yield 0.06, lambda links, note: _say(note, f"[[{links.target().path[:-3]}|path]]")
        yield 0.04, lambda links, note: _show(note, f"![[{links.target().name}#Plan]]")
        yield 0.05, _table_cell
        yield 0.05, _property
        yield 0.02, _attachment
        yield 0.01, _self
        yield 0.01, _alias


def _section(links: _Links) -> str:
    return SECTIONS[links.number(len(SECTIONS))]


def _say(note: _Insert, link: str, status: str = "resolved") -> str:
    note.sentences.append(f"See {link} for it")
    return status


def _show(note: _Insert, link: str, status: str = "resolved") -> str:
    note.blocks.append(link)
    return status


def _table_cell(links: _Links, note: _Insert) -> str:
    return _show(note, f"| who | what |\n|---|---|\n| [[{links.target().name}\\|shown]] | 12 |")


def _property(links: _Links, note: _Insert) -> str:
    note.properties.append(f'"[[{links.target().name}]]"')
    return "resolved"


def _attachment(links: _Links, note: _Insert) -> str:
    return _show(note, f"![[image {links.number(_ATTACHMENTS):03}.png|300]]", "attachment")


def _self(links: _Links, note: _Insert) -> str:
    return _say(note, f"[[#{_section(links)}]]", "self")


def _alias(links: _Links, note: _Insert) -> str:
    return _say(note, f"[[{links.named().aliases[0]}]]", "alias")


def _dangling(links: _Links, note: _Insert) -> str:
    ending = ("", "#Plan", "|later")[links.number(3)]
    return _say(note, f"[[{links.target().name} not yet written{ending}]]", "dangling")


def _markdown(links: _Links, note: _Insert) -> str:
    if links.number(3) == 0:
        return _say(note, f"[a page](https://example.org/{links.number(999)})", "external")
    return _say(note, f"[a note]({quote(links.target().path)})")


def _text(
    rng: np.random.Generator, note: _Note, number: int, parts: list[str], insert: _Insert
) -> str:
    if not any(part.endswith(".") for part in parts):
        parts.append("So it is.")
    prose = [at for at, part in enumerate(parts) if part.endswith(".")]
    for sentence in insert.sentences:
        at = prose[int(rng.integers(len(prose)))]
        parts[at] = f"{parts[at]} {sentence}."
    parts[prose[-1]] += f" #topic/t{number % 40} and #t{number % 13}"
    for block in insert.blocks:
        parts.insert(int(rng.integers(len(parts) + 1)), block)
    parts += _odd_ends(number)
    if number % 4 == 0:
        parts[-1] += f" ^b{number % 9}"
    return _front_matter(note, number, insert) + f"# {note.name}\n\n" + "\n\n".join(parts) + "\n"


def _odd_ends(number: int) -> Iterator[str]:
    if number % 20 == 3:
        yield "%% to be told: [[hidden]] and #hidden %%"
    if number % 30 == 4:
        yield "As noted.[^1]\n\n[^1]: The source of it."
    if number % 15 == 5:
        yield f"cost:: {number % 100} euros"
    if number % 40 == 6:
        yield "<details><summary>More</summary>[[hidden]]</details>"


def _front_matter(note: _Note, number: int, insert: _Insert) -> str:
    has_none = number % 6 == 0 and not insert.properties and not note.aliases
    if has_none:
        return ""
    lines = [f"date: {2019 + number % 7}-{number % 12 + 1:02}-{number % 28 + 1:02}"]
    lines.append(f"tags: [t{number % 40}, project/p{number % 11}]")
    if note.aliases:
        lines.append(f"aliases:\n  - {note.aliases[0]}")
    if insert.properties:
        lines.append(f"related: [{', '.join(insert.properties)}]")
    if number % 3 == 0:
        lines.append("status: done\nowner: nobody")
    return "\n".join(["---", *lines, "---", ""])
