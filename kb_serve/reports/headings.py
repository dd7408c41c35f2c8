"""Links to a heading or block that the linked note does not have. Pure: links, texts in, rows out.

A heading is compared as Obsidian compares it (signs count as blanks, case does not; in a chain
each is deeper than the last), or by the anchor that web pages make of it, `#like-this`: a link
that works in either place is not broken. A block is a line that ends with `^id`.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kb_assets.note_links.resolver import RESOLVED, SELF
from kb_assets.notes.markdown import Heading, read_body
from kb_serve.reports.grouping import Row, grouped, most_first, where_from

COLUMNS = ["status", "source_note_id", "target_note_id", "heading", "block"]

_BLOCK = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*\r?$", re.MULTILINE)
_SIGNS = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")
_NO_ANCHOR = re.compile(r"[^\w\- ]+")
_RANGE = re.compile(r",\d+(?::|$)|:#")  # of one tool: `#from,1:#to`
_LONGEST_COMPARED = 200  # characters of a heading that a likely one is looked for by


class Parts(NamedTuple):
    """The places of a note that links can point at."""

    headings: Sequence[tuple[int, frozenset[str]]]  # level, and what each may be called
    titles: Sequence[str]  # as read
    anchors: frozenset[str]
    blocks: frozenset[str]


def links_to_parts(links: pa.Table) -> pa.Table:
    """Keep the links that point at a heading or a block of a note that exists."""
    is_part = pc.or_(pc.is_valid(links["heading"]), pc.is_valid(links["block"]))
    is_there = pc.is_in(links["status"], value_set=pa.array([RESOLVED, SELF]))
    return links.filter(pc.and_(is_part, is_there)).select(COLUMNS)


def broken_parts(links: pa.Table, bodies: Mapping[str, str]) -> list[Row]:
    """Return one row per heading or block that is linked to and not there, most links first.

    Row: note, part (`#Heading` or `#^block`), links, notes, sources, `perhaps` (the heading that
    is most like it, or ""). `links` are those of `links_to_parts`; `bodies` gives the texts of
    the notes they point at, without front matter; a note without a body here is not judged.
    """
    parts = {note: read_parts(body) for note, body in bodies.items()}
    rows = []
    for (note, part), same in grouped(links.to_pylist(), _place).items():
        if note not in parts or _has(parts[note], same[0]):
            continue
        like = _like(part, parts[note].titles) if same[0]["block"] is None else ""
        rows.append({"note": note, "part": part, **where_from(same), "perhaps": like})
    return most_first(rows, "note", "part")


def is_range(part: str) -> bool:
    """Tell whether a link points at a range of headings, as Dendron writes it.

    >>> is_range("#summary,1:#*"), is_range("#Summary, 1990")
    (True, False)
    """
    return bool(_RANGE.search(part))


def read_parts(body: str) -> Parts:
    """Read the headings, their anchors and the blocks of a note's body."""
    headings = read_body(body).headings
    data = body.encode()
    return Parts(
        headings=[(each.level, _called(each, data)) for each in headings],
        titles=[each.text for each in headings],
        anchors=frozenset(_anchors(each.text for each in headings)),
        blocks=frozenset(block.lower() for block in _BLOCK.findall(body)),
    )


def _place(row: Row) -> tuple[str, str]:
    part = f"#^{row['block']}" if row["block"] else f"#{row['heading']}"
    return row["target_note_id"], part


def _has(parts: Parts, row: Row) -> bool:
    if row["block"]:
        return row["block"].lower() in parts.blocks
    heading = row["heading"].strip()
    return _has_chain(parts, heading) or heading.lower() in parts.anchors


def _has_chain(parts: Parts, chain: str) -> bool:
    wanted = [_plain(part) for part in chain.split("#") if part.strip()]
    at, above = 0, 0
    for level, names in parts.headings:
        if at < len(wanted) and level > above and wanted[at] in names:
            at, above = at + 1, level
    return at == len(wanted)


def _called(heading: Heading, data: bytes) -> frozenset[str]:
    """Return a heading as it is read and as it is written: links may use either."""
    written = data[heading.start : heading.end].decode(errors="replace").lstrip("# ")
    return frozenset({_plain(heading.text), _plain(written)})


def _plain(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().lower()


def _anchors(titles: Iterable[str]) -> Iterable[str]:
    """Yield the anchors of a page; the second of one name ends in `-1`."""
    seen: dict[str, int] = {}
    for title in titles:
        anchor = _NO_ANCHOR.sub("", title.strip().lower()).replace(" ", "-")
        again = seen.get(anchor, 0)
        seen[anchor] = again + 1
        yield f"{anchor}-{again}" if again else anchor


def _like(part: str, titles: Sequence[str]) -> str:
    wanted = _plain(part.rpartition("#")[2])[:_LONGEST_COMPARED]
    plain = {_plain(title)[:_LONGEST_COMPARED]: title for title in reversed(titles)}
    (found,) = difflib.get_close_matches(wanted, list(plain), n=1, cutoff=0.7) or [""]
    return plain[found] if found else ""
