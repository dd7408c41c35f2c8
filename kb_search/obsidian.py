"""Addresses that open a note in Obsidian at a heading. Pure."""

import re
from urllib.parse import quote

# What Obsidian itself leaves out of a heading when it writes a link to it.
_NOT_IN_HEADINGS = re.compile(r"[:#|^\\\r\n]|%%|\[\[|\]\]")


def obsidian_link(vault: str, note_id: str, heading: str | None = None) -> str:
    """Return the address of a note, or of a heading in it.

    >>> obsidian_link("My notes", "Work/Plan.md", "Q3: goals")
    'obsidian://open?vault=My%20notes&file=Work%2FPlan%23Q3%20goals'
    """
    target = note_id.removesuffix(".md")
    if heading:
        target += "#" + " ".join(_NOT_IN_HEADINGS.sub(" ", heading).split())
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(target, safe='')}"
