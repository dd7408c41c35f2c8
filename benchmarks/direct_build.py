"""Build a home by plain calls in the order of `kb build`, and see what of it had work to do.

Dagster adds a second to each build; what its assets call is called here. Only stages that are not
fresh are run, so what is listed is work.
"""

import datetime as dt
from collections.abc import Iterator

from benchmarks.reading_stages import read_folder
from eval_assets.evaluation import evaluate
from eval_assets.evaluation import is_fresh as scores_are_fresh
from eval_assets.folder_scores import folders_to_score, score_folder
from kb_assets.build.publish import run_published
from kb_assets.build.run import run_build, was_refused
from kb_assets.chunks.run import run as cut
from kb_assets.embedder_choice import open_for
from kb_assets.embeddings.run import is_fresh as vectors_are_fresh
from kb_assets.embeddings.run import is_lagging
from kb_assets.embeddings.run import run as embed
from kb_assets.entities.run import run as name_entities
from kb_assets.freshness import vault_is_fresh, words_are_fresh
from kb_assets.keyword_index.run import run as index
from kb_assets.knowledge.run import run as know
from kb_assets.lines.run import is_fresh as lines_are_fresh
from kb_assets.lines.run import run as embed_lines
from kb_assets.note_links.run import run as link
from kb_assets.notes.run import run as read
from kb_assets.outcome import Outcome
from kb_assets.placeholders.listing import begin_listing
from kb_assets.placeholders.run import run as look
from kb_assets.workbench import Workbench
from resources.builds import Builds
from resources.home import Home

Work = tuple[str, str]  # stage, partition


def build_directly(home: Home) -> list[Work]:
    """Bring a home up to date; return which stages did any work, in order. Raises KbError."""
    return list(_work(home, dt.datetime.now(dt.UTC)))


def _work(home: Home, now: dt.datetime) -> Iterator[Work]:
    begin_listing(home, now)
    partitions = sorted(home.folders())
    for partition in partitions:
        yield from _words(home, partition, now)
    if not _is_published(home):
        yield from _of([stage(home) for stage in (link, name_entities, know)])
        yield from _judged(home)
    embedder, _ = open_for(home)
    for partition in partitions:
        if not vectors_are_fresh(home, partition, embedder):
            yield from _of([embed(Workbench(home, started=now), partition)[0]])
    if not lines_are_fresh(home, embedder):
        yield from _of([embed_lines(Workbench(home, started=now))[0]])
    if not _is_published(home) and not was_refused(home):
        yield from _judged(home)
    for partition in folders_to_score(home):
        score_folder(home, partition)
        yield "eval_scores", partition


def _words(home: Home, partition: str, now: dt.datetime) -> Iterator[Work]:
    if not words_are_fresh(home, partition, now):
        done = [look(home, partition, now)]
        done += [stage(home, partition) for stage in (read, cut, index)]
        done += read_folder(Workbench(home, started=now), partition)
        yield from _of(done)
    if is_lagging(home, partition):
        yield from _of([embed(Workbench(home, started=now), partition)[0]])


def _judged(home: Home) -> Iterator[Work]:
    before = Builds(home.data).names()
    made = run_build(home)
    if made.hash not in before:
        yield made.stage, made.partition
    scored = evaluate(home)
    if scored.scores and not scored.is_cached:
        yield "eval_report", "all"
    yield from _of([run_published(home)[0]])


def _is_published(home: Home) -> bool:
    return vault_is_fresh(home) and scores_are_fresh(home)


def _of(done: list[Outcome]) -> Iterator[Work]:
    yield from ((each.stage, each.partition) for each in done if not each.is_cached)
