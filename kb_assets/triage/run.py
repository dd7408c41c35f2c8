"""Judge a folder's saved conversations: does one hold what belongs into knowledge? Safe to repeat.

A model is asked where that may be done now; what it has not answered is judged by rules.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kb_assets.answer_text import UnusableAnswerError
from kb_assets.asking.conversation_requests import PROMPT_VERSION
from kb_assets.asking.conversation_verdicts import verdict_of
from kb_assets.asking.work import of_conversations
from kb_assets.outcome import Outcome, are_held, input_hashes, outcome
from kb_assets.paid_work import Done, ask, reader_inputs, reader_of
from kb_assets.triage import rules
from kb_assets.workbench import Workbench
from kb_core.reading_contracts import TRIAGE
from resources.home import Home

STAGE = "triage"
VERSION = rules.VERSION
_NAMES = (STAGE,)


def run(bench: Workbench, partition: str) -> tuple[Outcome, str]:
    """Return what was made and, if a model could not be asked, one sentence that says why."""
    home = bench.home
    inputs = _inputs(home, partition)
    held = home.store.holds(STAGE, partition, inputs, VERSION)
    if held and not bench.may_pay:
        return outcome(STAGE, partition, [held], is_cached=True), ""
    chunks = home.store.read("chunks", partition)
    reader, problem = reader_of(home)
    done = Done()
    keys: Mapping[str, str] = {}
    if reader:
        asked = of_conversations(home, chunks, reader)
        done, keys = ask(bench, partition, reader, asked.work), asked.keys
    rows = [
        _judged(row, keys.get(row["version_id"], ""), done) for row in rules.rule_verdicts(chunks)
    ]
    with home.leases.hold(f"{STAGE}/{partition}"):
        pointer = home.store.write(
            STAGE, _table(rows), partition=partition, inputs=inputs, code_version=VERSION
        )
    counts = {**done.counts, "kept": sum(row["is_kept"] for row in rows)}
    made = outcome(STAGE, partition, [pointer], is_cached=False, counts=counts)
    return made, problem or done.problem


def is_fresh(home: Home, partition: str) -> bool:
    """Tell whether a run that asks nobody would find nothing to do."""
    return are_held(home, _NAMES, partition, _inputs(home, partition), VERSION)


def _judged(row: dict[str, Any], key: str, done: Done) -> dict[str, Any]:
    """Return the model's verdict where there is a sound one, else that of the rules."""
    answer = done.answers.get(key)
    if answer is None:
        return row
    try:
        is_kept, reason = verdict_of(answer.text)
    except UnusableAnswerError:
        return row
    return {**row, "is_kept": is_kept, "reason": reason, "extractor": answer.label}


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return TRIAGE.table(sorted(rows, key=lambda row: (row["note_id"], row["version_id"])))


def _inputs(home: Home, partition: str) -> dict[str, str]:
    reader, _ = reader_of(home)
    chunks = input_hashes(home, ["chunks"], partition)
    return {**chunks, **reader_inputs(reader, PROMPT_VERSION)}
