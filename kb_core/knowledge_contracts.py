"""The tables of knowledge: what chunks say one by one, and what that says together. Pure."""

import pyarrow as pa

from kb_core.contract import TEXTS, Contract, required


# How a chunk refers to something: kind is self, note, name or number; see kb_knowledge.records.
def _reference(role: str) -> list[pa.Field]:
    return [required(f"{role}_kind", pa.string()), required(role, pa.string())]


# Who says so: `structure` (what stands as data in a note: a property, a log line, a table),
# `rules-v1` (cue words in prose), or the label of the language model that read the chunk.
_EXTRACTOR = required("extractor", pa.string())

_SAID = [  # every observation stands in one chunk
    required("version_id", pa.string()),
    required("chunk_id", pa.string()),
    required("note_id", pa.string()),
    required("ordinal", pa.int32()),  # within the chunk
]

MENTIONS = Contract(
    name="mentions",
    key=("version_id", "chunk_id", "ordinal"),
    schema=pa.schema(
        [
            *_SAID,
            *_reference("subject"),
            required("type", pa.string()),  # of the ontology; empty: not said
            required("basis", pa.string()),  # type, identifier, value
            required("name", pa.string()),
            _EXTRACTOR,
        ]
    ),
)

LINK_OBSERVATIONS = Contract(
    name="link_observations",
    key=("version_id", "chunk_id", "ordinal"),
    schema=pa.schema(
        [
            *_SAID,
            *_reference("source"),
            *_reference("target"),
            required("type", pa.string()),
            required("label", pa.string()),  # the property, folded
            required("phrase", pa.string()),
            required("modality", pa.string()),
            pa.field("valid_from", pa.string()),
            _EXTRACTOR,
        ]
    ),
)

CLAIM_OBSERVATIONS = Contract(
    name="claim_observations",
    key=("version_id", "chunk_id", "ordinal"),
    schema=pa.schema(
        [
            *_SAID,
            *_reference("subject"),
            required("attribute", pa.string()),
            required("value", pa.string()),
            required("quote", pa.string()),
            required("modality", pa.string()),
            pa.field("valid_from", pa.string()),
            pa.field("valid_to", pa.string()),
            required("basis", pa.string()),  # property, header, field, log, table, prose
            _EXTRACTOR,
        ]
    ),
)

ENTITIES = Contract(
    name="entities",
    key=("entity_id",),
    schema=pa.schema(
        [
            required("entity_id", pa.string()),
            required("tenant", pa.string()),
            required("name", pa.string()),
            required("type", pa.string()),
            required("titles", TEXTS),
            required("aliases", TEXTS),
            required("identifiers", TEXTS),
            required("note_ids", TEXTS),
            required("chunks", pa.int64()),
            required("is_hub", pa.bool_()),
        ]
    ),
)

ENTITY_MENTIONS = Contract(
    name="entity_mentions",
    key=("entity_id", "version_id", "chunk_id"),
    schema=pa.schema(
        [
            required("entity_id", pa.string()),
            required("version_id", pa.string()),
            required("chunk_id", pa.string()),
        ]
    ),
)

MERGE_LEDGER = Contract(
    name="merge_ledger",
    key=("entity_id", "name", "rule"),
    schema=pa.schema(
        [
            required("entity_id", pa.string()),
            required("name", pa.string()),
            required("rule", pa.string()),
        ]
    ),
)

LINKS = Contract(
    name="links",
    key=("link_id",),
    schema=pa.schema(
        [
            required("link_id", pa.string()),
            required("source_id", pa.string()),
            required("target_id", pa.string()),
            required("type", pa.string()),
            required("labels", TEXTS),
            required("times", pa.int64()),
            required("phrases", TEXTS),
            required("chunk_ids", TEXTS),
            required("modalities", TEXTS),
            pa.field("first_seen", pa.string()),
            pa.field("last_seen", pa.string()),
            required("extractors", TEXTS),
        ]
    ),
)

CLAIMS = Contract(
    name="claims",
    key=("claim_id",),
    schema=pa.schema(
        [
            required("claim_id", pa.string()),
            required("entity_id", pa.string()),
            required("attribute", pa.string()),
            required("value", pa.string()),
            required("modality", pa.string()),
            required("quote", pa.string()),
            required("basis", pa.string()),
            required("version_id", pa.string()),
            required("chunk_id", pa.string()),
            required("note_id", pa.string()),
            pa.field("written_date", pa.string()),
            required("is_weak", pa.bool_()),
            pa.field("valid_from", pa.string()),
            pa.field("valid_to", pa.string()),
            _EXTRACTOR,
            required("state", pa.string()),  # current, superseded, no longer stated, undated
            pa.field("until", pa.string()),
        ]
    ),
)

CLAIM_RELATIONS = Contract(
    name="claim_relations",
    key=("claim_id", "other_id", "kind"),
    schema=pa.schema(
        [
            required("claim_id", pa.string()),
            required("other_id", pa.string()),
            required("kind", pa.string()),  # SUPERSEDED_BY, CONFLICTS_WITH
        ]
    ),
)

KNOWLEDGE_CONTRACTS = (
    MENTIONS,
    LINK_OBSERVATIONS,
    CLAIM_OBSERVATIONS,
    ENTITIES,
    ENTITY_MENTIONS,
    MERGE_LEDGER,
    LINKS,
    CLAIMS,
    CLAIM_RELATIONS,
)
