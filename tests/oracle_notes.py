"""Read a note without any parser, slowly: what the parser's answers are held against.

`scan` says where the front matter ends and which links, tags, fields, block ids, comments and
code a note holds. It is written from the rules of CommonMark, of Obsidian's help and of what was
observed on Obsidian 1.13.7, not from the parser, and imports nothing of it. Beyond the rules in
oracle_blocks and oracle_inlines:

- Front matter stands between `---` on line 1 and a line `---` or `...`.
- A comment opens with `%%` outside code and ends with the next `%%`, wherever that stands. One
  that does not begin its line ends with its paragraph, else it is no comment. What a reader does
  not see is not there: a line that is all comment is a blank line.
- A tag begins its line, or follows a blank, a mark of emphasis, a cell's bar or another tag. It
  needs a character that is no digit, `-`, `_` or `/`.
- A link's target is split at its first `#`; Markdown's is then percent-decoded.
"""

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from tests.oracle_blocks import Blocks
from tests.oracle_destinations import definition
from tests.oracle_inlines import FILLER, Found, Run, Scanner
from tests.oracle_lines import FENCE, HTML, INDENTED, PROSE, Leaf

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_TAG_ENDS = frozenset("#'\"!$%&()*+,.:;<=>?@^`{|}~[]\\")
_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)$")
_FIELD = re.compile(r"(?:\[.\]\s+)?[*_]*([^\W\d_][\w /-]*?)[*_]*::\s+(\S.*)")
_BRACKETED = re.compile(
    r"(?<!\[)[\[(]([^\W\d_][\w /-]*?)::(?=[ \t]|\[\[)((?:\[\[[^\[\]]*\]\]|[^\[\]()])*)[\])]"
)

LinkRow = tuple[str, str, str | None, str | None, str | None, int, int]


@dataclass
class Note:
    """What a note holds. Links end with their range in bytes of the whole note."""

    body_start: int
    links: list[LinkRow]
    tags: list[str]
    fields: list[tuple[str, str]]
    block_ids: list[str]
    comments: list[str]
    headings: list[str]


def body_start(text: str) -> int:
    """Return the character after the front matter, or 0."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n|$)", text)
    if not lines or lines[0].rstrip() != "---" or not re.match(r"---[ \t]*[\r\n]", lines[0]):
        return 0
    at = len(lines[0])
    for line in lines[1:]:
        at += len(line)
        if line.rstrip(" \t\r\n") in ("---", "..."):
            return at
    return 0


def scan(text: str) -> Note:
    """Read a note's text."""
    start = body_start(text)
    body = text[start:].replace("\r\n", " \n").replace("\r", "\n")
    visible, comments = _without_comments(body)
    reading = _Reading(visible)
    before = len(text[:start].encode())
    sizes = [0]
    for char in body:
        sizes.append(sizes[-1] + len(char.encode()))
    links = [
        (*_parts(link), before + sizes[link.start], before + sizes[link.end])
        for link in reading.links
        if _is_link(link)
    ]
    return Note(
        body_start=before,
        links=sorted(links, key=lambda row: (row[5], -row[6])),
        tags=list(dict.fromkeys(reading.tags)),
        fields=reading.fields,
        block_ids=reading.block_ids,
        comments=comments,
        headings=reading.headings,
    )


def _is_link(link: Found) -> bool:
    return "\n" not in link.target and any(_parts(link)[1:4])


def _parts(link: Found) -> tuple[str, str, str | None, str | None, str | None]:
    target = link.target.replace(FILLER, "")
    if link.kind in ("wikilink", "embed"):
        target = target[:-1] if link.has_bar and target.endswith("\\") else target
        where = _split(target)
    elif _SCHEME.match(target):
        where = (target, None, None)
    else:
        where = tuple(_percent_decoded(part) for part in _split(target))
    display = " ".join(link.display.replace(FILLER, "").split()) or None
    return link.kind, *where, display


def _split(target: str) -> tuple[str, str | None, str | None]:
    """Split at the first `#`: a note, a chain of headings, and what follows the last `#^`."""
    note, *subpath = target.split("#")
    block: str | None = None
    chain: list[str] = []
    for at, part in enumerate(subpath):
        is_last_block = part.startswith("^") and not any(
            x.startswith("^") for x in subpath[at + 1 :]
        )
        if is_last_block:
            block = "#".join(subpath[at:])[1:].strip() or None
            break
        if part.strip():
            chain.append(part.strip())
    return note.strip(), "#".join(chain) or None, block


def _percent_decoded(text: str | None) -> str | None:
    if not text:
        return text
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return text


def _without_comments(body: str) -> tuple[str, list[str]]:
    """Take one comment after the other away, reading the whole text anew each time."""
    found: list[str] = []
    at = 0
    while (start := body.find("%%", at)) >= 0 and (end := body.find("%%", start + 2)) >= 0:
        hidden = _Reading(body).hidden
        if any(first <= start < last for first, last in hidden):
            at = start + 2
        elif body[:start].rpartition("\n")[2].strip(" \t") and _has_blank_line(body[start:end]):
            at = end
        else:
            found.append(body[start + 2 : end])
            body = _blanked(body, start, end + 2)
            at = end + 2
    return body, found


def _has_blank_line(text: str) -> bool:
    return any(not line.strip(" \t") for line in text.split("\n")[1:-1])


def _blanked(body: str, start: int, end: int) -> str:
    """Put blanks where whole lines were comment, and the filler beside other text."""
    first = body.rfind("\n", 0, start) + 1
    stop = body.find("\n", end)
    stop = len(body) if stop < 0 else stop
    lines = []
    at = first
    for line in body[first:stop].split("\n"):
        shown = [char for n, char in enumerate(line, at) if not start <= n < end]
        mark = FILLER if "".join(shown).strip(" \t") else " "
        lines.append("".join(mark if start <= n < end else char for n, char in enumerate(line, at)))
        at += len(line) + 1
    return body[:first] + "\n".join(lines) + body[stop:]


class _Reading:
    """One reading of a body whose comments are away, or not yet."""

    def __init__(self, body: str) -> None:
        self.body = body
        self.links: list[Found] = []
        self.hidden: list[tuple[int, int]] = []
        self.tags: list[str] = []
        self.fields: list[tuple[str, str]] = []
        self.block_ids: list[str] = []
        self.headings: list[str] = []
        blocks = Blocks(body)
        refs: dict[str, str] = {}
        runs = [(leaf, self._run(leaf, refs)) for leaf in blocks.leaves if leaf.pieces]
        for leaf, (text, places) in runs:
            self._prose(leaf, text, places, refs, blocks.footnotes)
        for leaf in blocks.leaves:
            if leaf.kind in (FENCE, INDENTED, HTML):
                self.hidden.append((leaf.start, leaf.end))

    def _run(self, leaf: Leaf, refs: dict[str, str]) -> tuple[str, list[int]]:
        """Join a leaf's lines; take the link definitions off its top."""
        places: list[int] = []
        text = ""
        for start, end in leaf.pieces:
            if text or places:
                text += "\n"
                places.append(start - 1)
            text += self.body[start:end]
            places += range(start, end)
        while leaf.kind == PROSE and (found := definition(text)):
            label, target, end = found
            refs.setdefault(label, target)
            text, places = text[end:], places[end:]
        return text, [*places, (places[-1] + 1) if places else 0]

    def _prose(
        self,
        leaf: Leaf,
        text: str,
        places: list[int],
        refs: dict[str, str],
        footnotes: set[str],
    ) -> None:
        run = Scanner(text, refs, footnotes).scan()
        self.hidden += [(places[start], places[end - 1] + 1) for start, end in run.hidden]
        self.tags += _tags(text, run)
        for link in run.links:
            link.start, link.end = places[link.start], places[link.end - 1] + 1
            self.links.append(link)
        if leaf.is_heading:
            self.headings.append(_ID.sub("", run.text).strip())
        self._lines(text, run, is_whole=leaf.kind == PROSE and leaf.mark != "#")

    def _lines(self, text: str, run: Run, *, is_whole: bool) -> None:
        """Find the fields of a run; one that is a whole line stands in no heading or cell."""
        at = 0
        for line in text.split("\n"):
            self.block_ids += _ID.findall(line.rstrip())
            whole = _FIELD.fullmatch(line) if is_whole else None
            for found in [whole] if whole else _BRACKETED.finditer(line):
                mark = at + found.end(1)
                value = found[2].replace(FILLER, "").strip()
                if value and not any(start <= mark < end for start, end in run.hidden):
                    self.fields.append((found[1], value))
            at += len(line) + 1


def _tags(text: str, run: Run) -> list[str]:
    prose = [True] * len(text)
    for link in run.links:
        first, last = link.prose
        for at in range(link.start, link.end):
            prose[at] = prose[at] and first <= at < last
    for start, end in run.hidden:
        prose[start:end] = [False] * (end - start)
    found: list[str] = []
    end_of_tag = -1
    for at, char in enumerate(text):
        if char != "#" or not prose[at]:
            continue
        if at != end_of_tag and not _may_precede(text[at - 1 : at]):
            continue
        name = _tag_name(text, at + 1)
        end = at + 1 + len(name)
        name = name.rstrip("_") if text[at - 1 : at] == "_" else name
        name = name.strip("/")
        if any(char not in "0123456789/_-" for char in name):
            found.append(name.lower())
            end_of_tag = end
    return found


def _may_precede(before: str) -> bool:
    return not before or before.isspace() or before in "*_~="


def _tag_name(text: str, at: int) -> str:
    end = at
    while end < len(text) and not _ends_tag(text[end]):
        end += 1
    return text[at:end]


def _ends_tag(char: str) -> bool:
    """End at blanks and punctuation, in every script; symbols and emoji belong to a tag."""
    if char in _TAG_ENDS or char.isspace() or char < " ":
        return True
    return ord(char) > 127 and unicodedata.category(char) in ("Po", "Ps", "Pe", "Pi", "Pf", "Pd")
