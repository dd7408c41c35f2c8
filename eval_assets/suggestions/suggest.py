"""Draft questions on a vault: every rule proposes, the best and most different ones are chosen.

Pure: the same tables, seed and decisions give the same suggestions in the same order.
"""

from collections.abc import Collection, Iterator

from eval_assets.suggestions.drafts import Draft
from eval_assets.suggestions.naming import Names
from eval_assets.suggestions.of_entries import entry_drafts
from eval_assets.suggestions.of_headings import heading_drafts
from eval_assets.suggestions.of_labels import label_drafts
from eval_assets.suggestions.of_links import link_drafts
from eval_assets.suggestions.of_properties import property_drafts
from eval_assets.suggestions.of_sentences import sentence_drafts
from eval_assets.suggestions.of_series import series_drafts
from eval_assets.suggestions.of_tables import table_drafts
from eval_assets.suggestions.of_talks import talk_drafts
from eval_assets.suggestions.rivals import Rivals
from eval_assets.suggestions.selection import choose
from eval_assets.suggestions.source import SourceVault

_LONGEST_QUESTION = 240


def suggest(
    vault: SourceVault,
    count: int,
    seed: int = 1,
    folder: str = "",
    taken: Collection[str] = (),
) -> list[Draft]:
    """Return up to `count` drafts whose ids are not taken, from one folder or from all.

    Each draft's quotes occur in its notes, and no note outside its grades answers it as well.
    """
    drafts = (
        draft
        for draft in all_drafts(vault)
        if draft.id not in taken
        and _is_inside(draft.note_id, folder)
        and len(draft.question) <= _LONGEST_QUESTION
    )
    return choose(drafts, vault, Rivals(vault).judged, count, seed)


def find(vault: SourceVault, ids: Collection[str]) -> list[Draft]:
    """Return the drafts with these ids, as far as the notes still give them, in order of ids."""
    rivals = Rivals(vault)
    wanted = {draft.id: draft for draft in all_drafts(vault) if draft.id in ids}
    judged = (rivals.judged(wanted[each]) for each in sorted(wanted))
    return [draft for draft in judged if draft is not None]


def all_drafts(vault: SourceVault) -> Iterator[Draft]:
    """Yield what every rule proposes, before anything is chosen or judged."""
    names = Names(vault)
    yield from property_drafts(vault, names)
    yield from label_drafts(vault, names)
    yield from table_drafts(vault, names)
    yield from sentence_drafts(vault, names)
    yield from heading_drafts(vault, names)
    yield from entry_drafts(vault, names)
    yield from series_drafts(vault, names)
    yield from link_drafts(vault, names)
    yield from talk_drafts(vault)


def _is_inside(note_id: str, folder: str) -> bool:
    return not folder or note_id.startswith(folder.rstrip("/") + "/")
