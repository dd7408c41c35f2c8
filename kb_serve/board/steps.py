"""What a person can do now, most pressing first. Pure. Each step ends when its cause does."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from kb_assets.gate import Standing
from kb_core.money import DOLLAR
from kb_serve.board.data import Board, FolderState
from kb_serve.board.spending import about, asked_about, ceiling_of
from kb_serve.output import counted, duration

_PLANS = 4  # plans that wait take no more steps than this: one folder can have three


@dataclass(frozen=True)
class Step:
    """One thing to do: why, with which commands, and where to look first."""

    why: str
    commands: tuple[str, ...] = ()
    link: str = ""  # below this page's address
    link_words: str = "Open the run."
    is_pressing: bool = True


def steps(board: Board) -> list[Step]:
    """Return what to do now; empty when nothing is left to do."""
    if not board.answers or not board.folders:
        return [Step("Nothing is built yet.", ("kb build",))]
    return [*_on_build(board), *_on_folders(board), *_on_spending(board), *_on_rest(board)]


def _on_build(board: Board) -> Iterator[Step]:
    verdict = board.verdict
    if verdict is None or not verdict.why_not:
        return
    new, old = verdict.build[:12], board.answers[:12]
    if verdict.pinned:
        yield Step("A pinned build answers; newer ones wait.", ("kb publish --unpin",))
        return
    yield Step(
        "The last build stays back. See what moved, then mend it, or let it answer as it is.",
        (f"kb eval --build {new} --against {old}", "kb build", "kb publish --accept"),
    )


def _on_folders(board: Board) -> Iterator[Step]:
    for folder in board.folders:
        if folder.waiting:
            yield _on_deletions(folder)
        elif folder.needs_help and folder.run:
            name = folder.counts["folder"]
            link = f"/runs/{quote(folder.run.run_id, safe='')}"
            yield Step(f"The last run of {name} failed. {folder.run.problem}", (), link)
    odd = [folder for folder in board.folders if not folder.counts["adds_up"]]
    if odd:
        yield Step(f"{counted(len(odd), 'folder')} changed while being read.", ("kb build",))
    failed = sum(folder.counts["failed"] for folder in board.folders)
    if failed:
        yield Step(f"{counted(failed, 'file')} could not be read.", ("kb check",))


def _on_deletions(folder: FolderState) -> Step:
    name = folder.counts["folder"]
    return Step(
        f"{counted(folder.waiting, 'note')} of {name} vanished at once. If the vault is not wholly "
        "mounted or synced, mend that. If they were deleted, say so.",
        (f"kb approve-deletions --folder {shlex.quote(name)}", "kb build"),
    )


def _on_spending(board: Board) -> Iterator[Step]:
    if board.spending.problem:
        yield Step(f"No language model can be asked. {board.spending.problem}")
    waiting = [each for each in board.spending.plans if each.permission.state == "waiting"]
    shown = waiting if len(waiting) <= _PLANS else waiting[: _PLANS - 1]
    for each in shown:
        yield _on_plan(each)
    if rest := waiting[len(shown) :]:
        cost = about(sum(each.plan.cost_nano for each in rest))
        why = f"{len(rest)} more plans wait for your word, {cost} together."
        yield Step(why, ("kb plan",), "#spending", "See them.")


def _on_plan(waiting: Standing) -> Step:
    plan, usd = waiting.plan, ceiling_of(waiting.plan.cost_nano) / DOLLAR
    wait = "waits" if waiting.items == 1 else "wait"
    return Step(
        f"{waiting.folder}: {asked_about(waiting)} {wait} to be read by {plan.label}, "
        f"{about(plan.cost_nano)}.",
        (f"kb approve {plan.plan_id[:8]} --usd {usd:.2f}",),
        f"/board/spend/{plan.plan_id}",
        "Approve or decline …",
    )


def _on_rest(board: Board) -> Iterator[Step]:
    pending = sum(folder.pending for folder in board.folders)
    if pending and board.makes_vectors:
        yield Step(
            f"Still to come: vectors of {counted(pending, 'text')}; words answer meanwhile. "
            f"{time_left(board)}",
            ("kb build",),
            is_pressing=False,
        )
    if not board.has_questions:
        yield Step(
            "No question scores the builds yet. Draft some from the notes.",
            ("kb questions suggest", "kb build"),
            is_pressing=False,
        )


def time_left(board: Board) -> str:
    """Say how long all pending vectors take, how to find out, or why none are made."""
    if not board.makes_vectors:
        return "Vectors are switched off in kb.toml; words and links answer."
    known = [folder.seconds_left for folder in board.folders]
    if any(seconds is None for seconds in known):
        return "How long that takes on this machine: `kb doctor`."
    return f"That takes about {duration(sum(seconds or 0 for seconds in known))}."
