"""Cut text that is not read as Markdown any more: into runs of words of one size. Pure, linear."""

import re
from collections.abc import Iterator

from kb_assets.chunks.drafts import Draft
from kb_assets.chunks.limits import Limits
from kb_core.tokens import TokenCounter

# In most languages a token has two characters or more.
_CHARACTERS_A_TOKEN = 2


def draft_plainly(body: str, start: int, limits: Limits, counter: TokenCounter) -> Iterator[Draft]:
    """Yield what stands from `start` on, with neither headings nor dates of its own."""
    size = _CHARACTERS_A_TOKEN * limits.largest_tokens
    run = re.compile(rf"\S.{{0,{size - 1}}}(?=\s|\Z)|\S.{{0,{size - 1}}}", re.DOTALL)
    for found in run.finditer(body, start):
        text = found[0].rstrip()
        yield Draft(found.start(), found.start() + len(text), text, counter.count(text))
