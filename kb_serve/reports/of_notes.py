"""Reports on notes: links that lead nowhere or elsewhere, notes nobody links, copies, cards."""

from collections.abc import Sequence

from kb_serve.output import counted
from kb_serve.reports.alias_links import alias_links
from kb_serve.reports.ambiguous import ambiguous_links
from kb_serve.reports.cards import Reach, card_lint
from kb_serve.reports.dangling import dangling_links
from kb_serve.reports.duplicates import duplicate_notes
from kb_serve.reports.grouping import Row
from kb_serve.reports.headings import broken_parts, is_range, links_to_parts
from kb_serve.reports.link_names import bare
from kb_serve.reports.mentions import mention_suggestions
from kb_serve.reports.orphans import orphan_notes
from kb_serve.reports.present import Present
from kb_serve.reports.section import Kind, few


def _dangling(present: Present) -> list[Row]:
    return dangling_links(present.links, present.names)


def _swapped(rows: Sequence[Row]) -> str:
    number = sum(row["swapped"] for row in rows)
    if not number:
        return ""
    return (
        f"In {counted(number, 'link')} the part behind | names a note. Obsidian reads "
        "[[Note|shown]]; some tools, such as Dendron, write [[shown|Note]]."
    )


def _perhaps(row: Row) -> str:
    if row["swapped"]:
        return f"the part behind |, {counted(row['swapped'], 'time')}"
    return bare(row["perhaps"])


def _aliases(present: Present) -> list[Row]:
    return alias_links(present.links, present.names)


def _ambiguous(present: Present) -> list[Row]:
    return ambiguous_links(present.links, present.names)


def _headings(present: Present) -> list[Row]:
    links = links_to_parts(present.links)
    targets = links["target_note_id"].unique().to_pylist()
    return broken_parts(links, dict(present.bodies(targets)))


def _ranges(rows: Sequence[Row]) -> str:
    number = sum(1 for row in rows if is_range(row["part"]))
    return (
        f"{number:,} of them are ranges as Dendron writes them (#from,1:#to), which Obsidian does "
        "not know."
        if number
        else ""
    )


def _orphans(present: Present) -> list[Row]:
    return orphan_notes(present.notes, present.links, present.mentions)


def _mentions(present: Present) -> list[Row]:
    return mention_suggestions(present.mentions, present.links, present.forms)


def _duplicates(present: Present) -> list[Row]:
    return duplicate_notes(present.bodies(), present.conflict_copies)


def _cards(present: Present) -> list[Row]:
    cards = present.cards()
    if not cards:
        return []
    orphans = _orphans(present)
    alone = {row["note"] for row in orphans}
    named = {row["note"] for row in orphans if row["mentioned_in"] or row["mentions"]}
    linked = set(present.notes["note_id"].to_pylist()) - alone
    return card_lint(cards, Reach(linked, named, _dangling(present)))


def _percent(similarity: float | None) -> str:
    return "" if similarity is None else f"{similarity:.0%}"


DANGLING = Kind(
    "dangling",
    "Links to notes that do not exist",
    "Write the note, or mend the link.",
    ("target", "links", "in", "perhaps meant"),
    _dangling,
    lambda row: (row["target"], row["links"], few(row["sources"]), _perhaps(row)),
    _swapped,
)
ALIASES = Kind(
    "aliases",
    "Links that use an alias",
    "Obsidian does not follow them: write them as shown.",
    ("link", "links", "in", "write"),
    _aliases,
    lambda row: (
        f"[[{row['target']}]]",
        row["links"],
        few(row["sources"]),
        " or ".join(row["write"]),
    ),
)
AMBIGUOUS = Kind(
    "ambiguous",
    "Links whose name several notes have",
    "Where another note is meant, write its path.",
    ("link", "links", "in", "takes", "not"),
    _ambiguous,
    lambda row: (
        f"[[{row['target']}]]",
        row["links"],
        few(row["sources"]),
        f"{bare(row['takes'])} ({row['rule']})",
        few(row["others"], bare),
    ),
)
HEADINGS = Kind(
    "headings",
    "Links to a heading or block that is not there",
    "Mend the link, or give the note that heading.",
    ("note", "part", "links", "in", "perhaps meant"),
    _headings,
    lambda row: (
        bare(row["note"]),
        row["part"],
        row["links"],
        few(row["sources"]),
        row["perhaps"],
    ),
    _ranges,
)
ORPHANS = Kind(
    "orphans",
    "Notes that no link joins to another",
    "Link them from where they belong; those that others name come first.",
    ("note", "named by notes", "names notes", "links to nowhere"),
    _orphans,
    lambda row: (
        bare(row["note"]),
        row["mentioned_in"] or "",
        row["mentions"] or "",
        row["dangling"] or "",
    ),
)
MENTIONS = Kind(
    "mentions",
    "Notes that others name without a link",
    "Link them where it helps.",
    ("note", "called", "by notes", "times", "most in", "or is it"),
    _mentions,
    lambda row: (
        bare(row["note"]),
        ", ".join(row["names"]),
        row["notes"],
        row["occurrences"],
        few(row["sources"]),
        few(row["others"], bare),
    ),
)
DUPLICATES = Kind(
    "duplicates",
    "Notes that say the same",
    "Keep one of each.",
    ("what", "notes", "in common"),
    _duplicates,
    lambda row: (row["kind"], few(row["notes"], bare), _percent(row["similarity"])),
    reads_all_texts=True,
)
CARDS = Kind(
    "cards",
    "Faults of cards",
    "One idea a card, with a summary, and links to what it rests on.",
    ("fault", "in", "what"),
    _cards,
    lambda row: (row["code"], few(row["notes"], bare), row["what"]),
)
