"""Reports on reading: who read the prose, why no model did, and which types links ask for."""

from collections import Counter

from kb_assets.extractions import readings
from kb_serve.reports.grouping import Row
from kb_serve.reports.present import Present
from kb_serve.reports.section import Kind

# What a reading's state says of chunks.
MEANINGS = {
    readings.READ: "read",
    readings.WAITING: "a model was not asked yet: `kb plan` says what that costs",
    readings.BARRED: "may not be sent: the folder is not listed under [egress], or it is private",
    readings.LEFT: "a conversation that holds nothing to be read for",
    readings.REFUSED_BY_MODEL: "the model refused to read it",
    readings.CUT_OFF: "the model's answer was cut off",
    readings.UNUSABLE: "the model's answer was no answer of the form asked for",
    readings.FAILED: "the model's server refused it again and again",
}


def _read(present: Present) -> list[Row]:
    store = present.home.store
    found: Counter[tuple[str, str]] = Counter()
    for partition in store.partitions("readings"):
        current = store.read("chunks", partition, ["version_id", "chunk_id", "is_current"])
        shown = {
            (row["version_id"], row["chunk_id"]) for row in current.to_pylist() if row["is_current"]
        }
        columns = ["version_id", "chunk_id", "extractor", "state"]
        for row in store.read("readings", partition, columns).to_pylist():
            if (row["version_id"], row["chunk_id"]) in shown:
                found[row["extractor"], row["state"]] += 1
    rows = [{"by": by, "state": state, "chunks": n} for (by, state), n in found.items()]
    return sorted(rows, key=lambda row: (-row["chunks"], row["by"], row["state"]))


def _proposals(present: Present) -> list[Row]:
    store = present.home.store
    found: Counter[str] = Counter()
    for partition in store.partitions("type_proposals"):
        for row in store.read("type_proposals", partition, ["phrase", "times"]).to_pylist():
            found[row["phrase"]] += row["times"]
    rows = [{"phrase": phrase, "times": times} for phrase, times in found.items()]
    return sorted(rows, key=lambda row: (-row["times"], row["phrase"]))


READINGS = Kind(
    "readings",
    "Who read the passages' prose",
    "Properties, tables and logs are read by rules in any case.",
    ("read by", "passages", "why"),
    _read,
    lambda row: (row["by"], row["chunks"], MEANINGS.get(row["state"], row["state"])),
)
PROPOSALS = Kind(
    "type_proposals",
    "Words that link things without a type",
    "Give the frequent ones a type in data/ontology.toml: only such links are asked about again.",
    ("words", "times"),
    _proposals,
    lambda row: (row["phrase"], row["times"]),
)
