"""What part a note plays in an answer, by the lines that were kept: current, a plan. Pure."""

from collections.abc import Sequence

from kb_search.graph_layer import KeptLine

FRAME, SUPPORT, NEIGHBOUR = "frame", "support", "neighbour"
CURRENT, SUPERSEDED, PLAN = "current", "superseded", "plan"


def note_roles(lines: Sequence[KeptLine]) -> dict[str, str]:
    """Return the roles of the notes that state what was asked for.

    A note with one current statement is current, whatever else in it is outdated.
    """
    found: dict[str, str] = {}
    for kept in lines:
        claim = kept.line.claim
        if not kept.is_implied or claim is None or (kept.is_beside and not kept.is_past):
            continue
        role = SUPERSEDED if kept.is_past else PLAN if claim.modality == "plan" else CURRENT
        if role == CURRENT or claim.note_id not in found:
            found[claim.note_id] = role
    return found
