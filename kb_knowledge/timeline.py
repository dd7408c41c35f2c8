"""Which claims held on a day of the past. Pure.

Two clocks tell: when something was true (a log line's day, a row's of a dated table, a valid_from)
and when it was written. The first beats the second, and what is dated weakly or not held on no day.
"""

from collections import defaultdict
from collections.abc import Sequence

from kb_core.dates import is_later
from kb_knowledge.claims import HEAD
from kb_knowledge.records import Claim

AFTER = "~"  # sorts behind every longer form of a partial date


def state_at(claims: Sequence[Claim], date: str) -> list[Claim]:
    """Return those of some claims that held at the end of a partial date, in their order.

    What is dated by when it was true (a log line, a table's row) counts from that day and beats a
    note's head line, which counts from when it was written. What has no date held on none.
    """
    groups: dict[tuple[str, str], list[Claim]] = defaultdict(list)
    for claim in claims:
        groups[claim.entity_id, claim.attribute].append(claim)
    held = {claim.claim_id for group in groups.values() for claim in _held(group, date + AFTER)}
    return [claim for claim in claims if claim.claim_id in held]


def _held(group: Sequence[Claim], end: str) -> list[Claim]:
    dated = [each for each in group if each.valid_from]
    latest = max((each.valid_from or "" for each in dated if _holds(each, end)), default="")
    found = [each for each in dated if each.valid_from == latest and _holds(each, end)]
    others = [each for each in group if not each.valid_from and _holds(each, end)]
    if dated:
        is_over = all((each.valid_from or "") <= end for each in dated)
        others = [each for each in others if _is_beside(each, latest, is_over)]
    return found + others


def _holds(claim: Claim, end: str) -> bool:
    start = claim.valid_from or (None if claim.is_weak else claim.written_date)
    ends = [each for each in (claim.until, claim.valid_to and claim.valid_to + AFTER) if each]
    return start is not None and start <= end and all(each > end for each in ends)


def _is_beside(claim: Claim, latest: str, is_over: bool) -> bool:
    """Tell whether a claim that is only written counts beside dated ones.

    `latest` is the day from which the last of them holds, if any does; `is_over` tells that none
    is still to come.
    """
    if claim.basis not in HEAD:
        return (claim.written_date or "") > latest
    if latest:
        return is_later(claim.written_date or "", latest)
    # A head line of today does not say how it was before the log begins.
    return is_over or claim.until is not None
