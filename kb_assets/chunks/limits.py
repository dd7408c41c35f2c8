"""How large chunks may be. A home chooses once, because other sizes cut every note elsewhere."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes in tokens, except the overlap."""

    whole_note_tokens: int = 1_500  # a note up to here stays whole
    largest_tokens: int = 1_000  # of a chunk of a longer note
    smallest_tokens: int = 100  # smaller neighbours join
    overlap_chars: int = 200  # repeated between pieces of one section
