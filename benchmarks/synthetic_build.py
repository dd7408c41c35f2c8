"""A synthetic build of any size, written by the real writers: the same numbers, the same bytes.

Words follow Zipf's law over 200,000; each folder draws a third of them from a window of its own.
Vectors lie around topics. The first folder holds 15.4% of the chunks, the rest share the others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kb_core.contracts import CHUNKS
from kb_core.ids import content_id, partition_key
from kb_search.keyword import VERSION, build_postings
from kb_search.vectors import build_vector_arrays
from resources.builds import FORMAT, Builds
from resources.tables import TableStore

FOLDERS = 13
FIRST_SHARE = 0.154
TENANT = "main"
PROFILE = "synthetic"
_VOCABULARY = 200_000
_WINDOW = 4_000
_TOPICS = 40
_CHUNKS_A_NOTE = 8
_QUESTION_WORDS = 8


@dataclass(frozen=True)
class SyntheticFolder:
    """One folder's texts and vectors."""

    path: str
    texts: list[str]
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class Corpus:
    """The folders, each made when it is asked for, and the words they are made of."""

    words: list[str]
    sizes: list[int]  # chunks in each folder
    dims: int
    length: int  # mean number of words in a chunk

    @cached_property
    def folders(self) -> list[SyntheticFolder]:
        """All folders, kept: for corpora that fit into memory."""
        return list(self.each())

    def each(self) -> Iterator[SyntheticFolder]:
        """Make one folder after the other."""
        for at in range(len(self.sizes)):
            yield self.folder(at)

    def folder(self, at: int) -> SyntheticFolder:
        """Make one folder; always the same."""
        chance = np.random.default_rng((1, at))
        texts = _texts(chance, self.words, at, self.sizes[at], self.length)
        vectors = _vectors(chance, self.sizes[at], self.dims)
        return SyntheticFolder(folder_name(at), texts, vectors)


def questions_of(
    folders: Sequence[SyntheticFolder], number: int
) -> tuple[list[str], NDArray[np.float32]]:
    """Return questions of words of one chunk each, and vectors near that chunk's."""
    chance = np.random.default_rng(7)
    texts, vectors = [], []
    for at in range(number):
        folder = folders[at % len(folders)]
        chunk = int(chance.integers(len(folder.texts)))
        texts.append(" ".join(chance.choice(folder.texts[chunk].split(), _QUESTION_WORDS)))
        vectors.append(folder.vectors[chunk] + 0.02 * chance.normal(size=len(folder.vectors[0])))
    return texts, _unit(np.array(vectors))


def make_corpus(chunks: int, dims: int, words: int, folders: int = FOLDERS) -> Corpus:
    """Decide what the folders hold. `words` is the mean number of words in a chunk."""
    first = round(chunks * FIRST_SHARE)
    rest = [len(part) for part in np.array_split(np.arange(chunks - first), folders - 1)]
    return Corpus(_vocabulary(np.random.default_rng(1)), [first, *rest], dims, words)


def folder_name(at: int) -> str:
    """Return the path of a folder by its number."""
    return f"folder {at:02d}"


def write_build(
    home: Path,
    folders: Iterable[SyntheticFolder],
    artifacts: Mapping[str, Mapping[str, object]] | None = None,
) -> str:
    """Write and publish a build of folders in a scratch home; return its name.

    `artifacts` are those of the whole vault, already written there.
    """
    store = TableStore(home / "data" / "store")
    manifest = {
        "format": FORMAT,
        "settings": {"embedder": None},
        "folders": {partition_key(each.path): _entry(store, each) for each in folders},
        "vault": {"artifacts": dict(artifacts or {})},
    }
    builds = Builds(home / "data")
    name = builds.write(manifest)
    builds.publish(name)
    return name


def note_id(folder: str, chunk: int) -> str:
    """Return the note that a folder's chunk is of, by its number."""
    return f"{folder}/note {chunk // _CHUNKS_A_NOTE:05d}.md"


def chunk_id(folder: str, chunk: int) -> str:
    """Return the id of a folder's chunk, by its number."""
    return content_id(folder, str(chunk))


def _entry(store: TableStore, folder: SyntheticFolder) -> dict[str, object]:
    partition = partition_key(folder.path)
    searched = [f"\n{text}" for text in folder.texts]
    per_doc = np.ones(len(searched), np.int64)
    postings, vectors = build_postings(searched), build_vector_arrays(per_doc, folder.vectors)
    pointers = {
        "chunks": store.write(
            "chunks", _chunks(folder, searched), partition=partition, inputs={}, code_version="1"
        )
    }
    for name, arrays in (("keyword_index", postings), ("vectors", vectors)):
        pointers[name] = store.write_arrays(
            name,
            arrays,
            partition=partition,
            rows=len(searched),
            inputs={},
            code_version=VERSION,
            meta={"profile": PROFILE},
        )
    artifacts = {name: pointer.as_artifact() for name, pointer in pointers.items()}
    return {"path": folder.path, "fingerprint": "", "artifacts": artifacts}


def _chunks(folder: SyntheticFolder, searched: list[str]) -> pa.Table:
    size = len(searched)
    notes = [note_id(folder.path, at) for at in range(size)]
    made = {
        "version_id": notes,
        "chunk_id": [chunk_id(folder.path, at) for at in range(size)],
        "text_id": [content_id(text) for text in searched],
        "note_id": notes,
        "is_current": [True] * size,
        "tenant": [TENANT] * size,
        "title": notes,
        "breadcrumb": notes,
        "text": folder.texts,
        "search_text": searched,
        "tokens": [text.count(" ") + 1 for text in folder.texts],
    }
    columns = [
        pa.array(made.get(field.name) or _blank(field, size), field.type) for field in CHUNKS.schema
    ]
    return pa.Table.from_arrays(columns, schema=CHUNKS.schema)


def _blank(field: pa.Field, size: int) -> list[object]:
    if field.nullable:
        return [None] * size
    if pa.types.is_list(field.type):
        return [[]] * size
    if pa.types.is_string(field.type):
        return [""] * size
    return [0 if not pa.types.is_boolean(field.type) else False] * size


def _vocabulary(chance: np.random.Generator) -> list[str]:
    """Return distinct made-up words of three to ten letters, the frequent ones shorter."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        length = min(10, 3 + len(words) // 2_000)
        drawn = chance.choice(letters, (1_000, length))
        words.update(dict.fromkeys("".join(row) for row in drawn))
    return list(words)[:_VOCABULARY]


def _texts(
    chance: np.random.Generator, vocabulary: list[str], folder: int, size: int, words: int
) -> list[str]:
    chances = np.cumsum(1 / np.arange(1, _VOCABULARY + 1))
    chances /= chances[-1]
    lengths = chance.integers(words // 2, words + words // 2, size)
    drawn = np.searchsorted(chances, chance.random(int(lengths.sum())))
    is_topical = chance.random(len(drawn)) < 1 / 3
    window = 1_000 + folder * _WINDOW
    drawn[is_topical] = window + drawn[is_topical] % _WINDOW
    named = [vocabulary[at] for at in drawn.tolist()]
    ends = np.cumsum(lengths).tolist()
    return [
        " ".join(named[end - length : end])
        for end, length in zip(ends, lengths.tolist(), strict=True)
    ]


def _vectors(chance: np.random.Generator, size: int, dims: int) -> NDArray[np.float32]:
    topics = chance.standard_normal((_TOPICS, dims), np.float32)
    vectors = chance.standard_normal((size, dims), np.float32)
    vectors += topics[chance.integers(_TOPICS, size=size)]
    return _unit(vectors)


def _unit(rows: np.ndarray) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
