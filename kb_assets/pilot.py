"""Have a model read a few passages of a folder first: what it costs, what it finds beyond rules.

The answers are kept like all others: a later run over the folder does not pay for them again. No
table is written. No Dagster.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from kb_assets.asking.work import AskedChunks, of_chunks
from kb_assets.extractions.extraction import extract
from kb_assets.extractions.readings import Answers, Prose
from kb_assets.paid_work import Reader, Work, ask, paid_file, plan_of, reader_of, unanswered
from kb_assets.workbench import Workbench
from kb_core.errors import ApprovalError, SettingsError
from kb_core.folder_names import folder_path
from kb_core.money import DOLLAR, dollars, nano
from kb_core.ontology import home_ontology
from resources.home import Home
from resources.paid_store import PaidStore
from resources.spending import MAY_ASK, permission_of

_READ = ("notes", "note_links_raw", "chunks")


class Passage(NamedTuple):
    """One passage, as the rules read it and as the model did: lines for people."""

    note_id: str
    breadcrumb: str
    state: str  # read, waiting, refused, cut, unusable, failed
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class Pilot:
    """What a pilot cost and showed."""

    folder: str
    label: str
    passages: tuple[Passage, ...] = ()
    asked: int = 0
    estimated_nano: int = 0
    billed_nano: int = 0
    folder_nano: int = 0  # what the rest of the folder would cost, estimated
    problem: str = ""
    counts: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the pilot as a JSON value."""
        return {
            "folder": self.folder,
            "model": self.label,
            "asked": self.asked,
            "estimated_usd": self.estimated_nano / DOLLAR,
            "billed_usd": self.billed_nano / DOLLAR,
            "rest_of_folder_usd": self.folder_nano / DOLLAR,
            "problem": self.problem,
            "passages": [each._asdict() for each in self.passages],
        }


def run_pilot(bench: Workbench, folder: str, size: int, usd: float | None) -> Pilot:
    """Have some passages of a folder read.

    Raises SettingsError for an unknown folder, ApprovalError where the price is above what goes by
    itself and above `usd`.
    """
    home = bench.home
    partition = _partition(home, folder)
    reader, problem = reader_of(home)
    if reader is None:
        raise SettingsError(problem or "No language model is chosen: see [llm] in kb.toml.")
    chunks = home.store.read("chunks", partition)
    ontology = home_ontology(home.data)
    asked = of_chunks(home, chunks, (), reader, ontology)
    with PaidStore(paid_file(home)) as store:
        rest = unanswered(store, asked.work.items)
        chosen = _spread(rest, size)
        work = Work(asked.work.stage, asked.work.version, tuple(chosen))
        if chosen:
            _permit(home, partition, reader, work, usd, store)
    done = ask(bench, partition, reader, work)
    keys = {item.request.key for item in chosen}
    return Pilot(
        folder=folder,
        label=reader.label,
        passages=tuple(_passages(home, partition, chunks, asked, done.answers, done.failed, keys)),
        asked=int(done.counts.get("asked", 0)),
        estimated_nano=int(done.counts.get("estimated_nano", 0)),
        billed_nano=int(done.counts.get("billed_nano", 0)),
        folder_nano=plan_of(
            home, partition, reader, asked.work, [i for i in rest if i.request.key not in keys]
        ).cost_nano,
        problem=done.problem,
    )


def _partition(home: Home, folder: str) -> str:
    found = [key for key, path in home.folders().items() if path == folder_path(folder)]
    if not found:
        raise SettingsError(f"No folder {folder!r} here. `kb folders` lists them.")
    return found[0]


def _spread(items: Sequence[Any], size: int) -> list[Any]:
    """Choose some from all over the folder, the same ones every time."""
    step = max(1, len(items) // size)
    return list(items[::step][:size])


def _permit(
    home: Home, partition: str, reader: Reader, work: Work, usd: float | None, store: PaidStore
) -> None:
    """Approve what the user named a price for; else it has to go by itself."""
    plan = plan_of(home, partition, reader, work, work.items)
    if usd is not None:
        store.approve(
            plan=plan.plan_id,
            folder=partition,
            stage=work.stage,
            ceiling_nano=nano(usd),
            keys=plan.keys,
            who="kb plan --try",
        )
    permission = permission_of(store, plan, home.settings.limits, time.time())
    if permission.state not in MAY_ASK:
        raise ApprovalError(
            f"Reading {len(work.items)} passages costs about {dollars(plan.cost_nano)}: "
            f"{permission.why} Say --usd X for this pilot alone."
        )


def _passages(
    home: Home,
    partition: str,
    chunks: pa.Table,
    asked: AskedChunks,
    answers: Any,
    failed: Any,
    keys: set[str],
) -> list[Passage]:
    places = [place for place, key in asked.keys.items() if key in keys]
    wanted = set(places)
    table = chunks.filter(pa.array([place in wanted for place in _places(chunks)], pa.bool_()))
    notes, links = (home.store.read(name, partition) for name in _READ[:2])
    ontology = home_ontology(home.data)
    before = extract(notes, links, table, ontology).tables
    prose = Prose(answers=Answers(asked.keys, answers, failed))
    after = extract(notes, links, table, ontology, prose).tables
    states = {_place(row): row["state"] for row in after["readings"].to_pylist()}
    found = {}
    for row in table.select(["version_id", "chunk_id", "note_id", "breadcrumb"]).to_pylist():
        place = _place(row)
        found[place] = Passage(
            row["note_id"], row["breadcrumb"], states.get(place, ""),
            _lines(before, place), _lines(after, place),
        )  # fmt: skip
    return [found[place] for place in places if place in found]


def _lines(tables: Any, place: tuple[str, str]) -> tuple[str, ...]:
    """Say what a chunk's prose and structure give, a line each, sorted."""
    lines = [
        f"{row['source'] or 'this note'} {row['type']} {row['target'] or 'this note'}"
        for row in tables["link_observations"].to_pylist()
        if _place(row) == place
    ]
    lines += [
        f"{row['subject'] or 'this note'}: {row['attribute']} = {row['value']} ({row['modality']})"
        for row in tables["claim_observations"].to_pylist()
        if _place(row) == place
    ]
    return tuple(sorted(lines))


def _places(chunks: pa.Table) -> list[tuple[str, str]]:
    return list(zip(chunks["version_id"].to_pylist(), chunks["chunk_id"].to_pylist(), strict=True))


def _place(row: Any) -> tuple[str, str]:
    return row["version_id"], row["chunk_id"]
