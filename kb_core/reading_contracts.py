"""The tables of what a folder is read by and what that costs. Pure.

`spending_plan` and `readings` say what is still to be done: they belong to no build.
"""

import pyarrow as pa

from kb_core.contract import TEXTS, Contract, required

SPENDING_PLAN = Contract(
    name="spending_plan",
    key=("stage",),
    schema=pa.schema(
        [
            required("stage", pa.string()),  # triage, extractions, retyping
            required("plan_id", pa.string()),  # of what is not answered; empty: nothing is left
            required("label", pa.string()),  # the model that would be asked
            required("items", pa.int64()),  # requests not yet answered
            required("answered", pa.int64()),
            required("barred", pa.int64()),  # what may not be sent: the folder, or the note
            required("unusable", pa.int64()),  # refused, cut off, or never a sound answer
            required("input_tokens", pa.int64()),  # estimated, of what is not answered
            required("output_tokens", pa.int64()),
            required("cost_nano", pa.int64()),  # estimated, nano-dollars
            required("is_batch", pa.bool_()),
            required("is_local", pa.bool_()),  # asked on this machine: it costs nothing
            required("keys", TEXTS),  # of the requests not yet answered, sorted
        ]
    ),
)

TRIAGE = Contract(  # which saved conversations are read for what they say
    name="triage",
    key=("version_id",),
    schema=pa.schema(
        [
            required("version_id", pa.string()),
            required("note_id", pa.string()),
            required("is_kept", pa.bool_()),
            required("reason", pa.string()),  # decision, figure, person, lesson, plan, nothing
            required("extractor", pa.string()),  # rules-v1, or the model's label
        ]
    ),
)

READINGS = Contract(  # who read each chunk's prose, and why nobody else did
    name="readings",
    key=("version_id", "chunk_id"),
    schema=pa.schema(
        [
            required("version_id", pa.string()),
            required("chunk_id", pa.string()),
            required("note_id", pa.string()),
            required("extractor", pa.string()),  # rules-v1, or the model's label
            # read, waiting (to be paid for or asked), barred (may not be sent), left (a
            # conversation that holds nothing), refused, cut, unusable (no sound answer), failed
            required("state", pa.string()),
            required("dropped", pa.int64()),  # things an answer said that did not hold
        ]
    ),
)

RETYPED = Contract(  # vague links that have a better type by now
    name="retyped",
    key=("version_id", "chunk_id", "ordinal"),
    schema=pa.schema(
        [
            required("version_id", pa.string()),
            required("chunk_id", pa.string()),
            required("ordinal", pa.int32()),  # of the link observation
            required("note_id", pa.string()),
            required("old_type", pa.string()),
            required("type", pa.string()),
            required("extractor", pa.string()),
        ]
    ),
)

TYPE_PROPOSALS = (
    Contract(  # phrases of vague links that are frequent enough for a type of their own
        name="type_proposals",
        key=("phrase",),
        schema=pa.schema(
            [
                required("phrase", pa.string()),
                required("times", pa.int64()),
                required("chunk_ids", TEXTS),
            ]
        ),
    )
)

READING_CONTRACTS = (SPENDING_PLAN, TRIAGE, READINGS, RETYPED, TYPE_PROPOSALS)
