"""Destinations, titles and definitions of Markdown links: see oracle_inlines."""

import html
import re

PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);")


def folded(label: str) -> str:
    """Fold a label of a link definition."""
    return " ".join(label.split()).casefold()


def unescaped(text: str) -> str:
    """Take escapes and entities out of a destination."""
    out, at = "", 0
    while at < len(text):
        entity = ENTITY.match(text, at)
        if text[at] == "\\" and text[at + 1 : at + 2] in PUNCTUATION and text[at + 1 : at + 2]:
            out, at = out + text[at + 1], at + 2
        elif entity:
            out, at = out + html.unescape(entity[0]), entity.end()
        else:
            out, at = out + text[at], at + 1
    return out


def after_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n":
        at += 1
    return at


def read_target(text: str, at: int) -> tuple[str, int]:
    """Read a destination; its end is -1 if there is none."""
    if text[at : at + 1] == "<":
        found = re.compile(r"<((?:[^<>\n\\]|\\.)*)>").match(text, at)
        return (unescaped(found[1]), found.end()) if found else ("", -1)
    depth, start = 0, at
    while at < len(text) and text[at] > " " and text[at] != "\x7f":
        if text[at] == "\\" and text[at + 1 : at + 2] in PUNCTUATION and text[at + 1 : at + 2]:
            at += 2
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth < 0:
            break
        at += 1
    return ("", -1) if depth > 0 else (unescaped(text[start:at]), at)


def title_end(text: str, at: int) -> int:
    """Return where a title ends, or -1."""
    patterns = {'"': r'"(?:[^"\\]|\\[\s\S])*"', "'": r"'(?:[^'\\]|\\[\s\S])*'"}
    pattern = patterns.get(text[at : at + 1], r"\((?:[^()\\]|\\[\s\S])*\)")
    found = re.compile(pattern).match(text, at)
    return found.end() if found else -1


def definition(text: str) -> tuple[str, str, int] | None:
    """Read the link definition a paragraph begins with: its label, its target, its end."""
    label = re.compile(r"\[((?:[^\[\]\\]|\\.)+)\]:").match(text)
    if not label or not label[1].strip() or label[1].startswith("^"):
        return None
    start = after_blanks(text, label.end())
    target, end = read_target(text, start)
    if end <= start:
        return None
    line_end = re.compile(r"[ \t]*(?:\n|$)")
    after = after_blanks(text, end)
    title = title_end(text, after) if after > end else -1
    for stop in (title, end):
        if stop > 0 and (found := line_end.match(text, stop)):
            return folded(label[1]), target, found.end()
    return None
