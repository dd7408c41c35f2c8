"""Choose drafts that are worth a person's time: many kinds, folders and notes. Pure.

The same drafts and the same seed give the same choice. A note gives at most two questions; a rule
gives its share at most, as long as others have something left.
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from eval_assets.suggestions.drafts import Draft
from eval_assets.suggestions.source import SourceVault
from kb_core.ids import content_id

_MOST_A_NOTE = 2
_MOST_A_RULE = 250  # drafts of one rule that are weighed
# The share of a choice that one rule may fill before the others are used up.
_SHARES = {
    "property": 0.2,
    "label": 0.05,
    "table": 0.15,
    "newest_row": 0.08,
    "figure": 0.15,
    "date": 0.08,
    "reason": 0.05,
    "agent": 0.08,
    "definition": 0.1,
    "asked": 0.15,
    "how_to": 0.12,
    "about": 0.1,
    "event": 0.12,
    "entry": 0.1,
    "newest_label": 0.1,
    "series": 0.1,
    "linked": 0.12,
    "older": 0.06,
    "talk": 0.3,
}
# The share that one rule never exceeds: many drafts of these kinds are alike.
_LIMITS = {"about": 0.4, "older": 0.15, "entry": 0.3, "table": 0.4}
_ONE_TOPIC = 0.08  # of a choice, asking for one property or label
_LINKS_COUNT, _RECENT_COUNTS, _LUCK = 0.15, 0.3, 1.0
_SAME_TOPIC, _SAME_FOLDER, _SAME_NOTE = 0.5, 0.12, 0.8


class _Choice:
    """What was chosen so far, and what it makes less welcome."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.drafts: list[Draft] = []
        self.notes: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()
        self.topics: Counter[tuple[str, str]] = Counter()
        self.folders: Counter[str] = Counter()
        self.asked: set[str] = set()

    def has_room(self, draft: Draft, stretch: int) -> bool:
        """Say whether the draft's notes and rule may still be used."""
        most = math.ceil(self.count * _SHARES[draft.rule]) * stretch
        if self.rules[draft.rule] >= min(most, math.ceil(self.count * _LIMITS.get(draft.rule, 1))):
            return False
        if draft.question in self.asked:
            return False
        topics = self.topics[(draft.rule, draft.topic)] if draft.topic else 0
        if topics >= max(2, math.ceil(self.count * _ONE_TOPIC)) * min(stretch, 2):
            return False
        return all(self.notes[note] < _MOST_A_NOTE for note in draft.essential)

    def penalty(self, draft: Draft) -> float:
        """Return how much of the same the choice already has."""
        topic = self.topics[(draft.rule, draft.topic)] if draft.topic else 0
        folder = self.folders[top_folder(draft.note_id)]
        used = max(self.notes[note] for note in draft.essential)
        return _SAME_TOPIC * topic + _SAME_FOLDER * folder + _SAME_NOTE * used

    def add(self, draft: Draft) -> None:
        """Take a draft."""
        self.drafts.append(draft)
        self.notes.update(draft.essential)
        self.rules[draft.rule] += 1
        self.topics[(draft.rule, draft.topic)] += 1
        self.folders[top_folder(draft.note_id)] += 1
        self.asked.add(draft.question)


def choose(
    drafts: Iterable[Draft],
    vault: SourceVault,
    judged: Callable[[Draft], Draft | None],
    count: int,
    seed: int,
) -> list[Draft]:
    """Return up to `count` drafts, grouped by category; `judged` has the last word on each."""
    worth = _worth(vault, seed)
    pool = _best_of_each_rule(drafts, worth)
    choice = _Choice(count)
    for stretch in (1, 2, 4, 100):
        while len(choice.drafts) < count:
            best = _best(pool, choice, worth, stretch)
            if best is None:
                break
            del pool[best.id]
            sound = judged(best)
            if sound is not None:
                choice.add(sound)
    return sorted(choice.drafts, key=lambda draft: (draft.category, draft.rule, draft.id))


def _best(
    pool: dict[str, Draft], choice: _Choice, worth: Callable[[Draft], float], stretch: int
) -> Draft | None:
    fitting = (draft for draft in pool.values() if choice.has_room(draft, stretch))
    return min(
        fitting, key=lambda draft: (choice.penalty(draft) - worth(draft), draft.id), default=None
    )


def _best_of_each_rule(
    drafts: Iterable[Draft], worth: Callable[[Draft], float]
) -> dict[str, Draft]:
    by_rule: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        by_rule[draft.rule].append(draft)
    pool: dict[str, Draft] = {}
    for rule in sorted(by_rule):
        ordered = sorted(by_rule[rule], key=lambda draft: (-worth(draft), draft.id))
        pool.update((draft.id, draft) for draft in ordered[:_MOST_A_RULE])
    return pool


def _worth(vault: SourceVault, seed: int) -> Callable[[Draft], float]:
    """Weigh a draft by its rule, its note's links and date, and the seed's luck."""
    dates = sorted(note.date for note in vault.notes if note.date)
    known: dict[str, float] = {}

    def worth(draft: Draft) -> float:
        if draft.id not in known:
            note = vault.by_id[draft.note_id]
            linked = min(math.log2(1 + vault.links_in[note.note_id]), 4)
            newer = bisect_right(dates, note.date) / len(dates) if note.date else 0.0
            known[draft.id] = (
                draft.weight
                + _LINKS_COUNT * linked
                + _RECENT_COUNTS * newer
                + _LUCK * _luck(seed, draft.id)
            )
        return known[draft.id]

    return worth


def _luck(seed: int, draft_id: str) -> float:
    """Return a number from 0 to 1 that the seed and the draft decide."""
    return int(content_id(str(seed), draft_id)[:8], 16) / 0xFFFFFFFF


def top_folder(note_id: str) -> str:
    """Return the first folder of a note's path, "" at the vault's root."""
    return note_id.partition("/")[0] if "/" in note_id else ""
