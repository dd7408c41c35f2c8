"""One build of a home, opened to be asked and measured. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from eval_assets.questions import Posed
from eval_assets.scoring import Scores, score
from eval_assets.variants import Variant, open_variants, present_notes
from kb_assets.choices import read_choices, token_counter
from kb_core.tokens import TokenCounter
from kb_search.engine import Engine
from resources.home import Home


@dataclass(frozen=True)
class Judge:
    """A build, the engine over it, and the home's token counter."""

    home: Home
    build: str
    engine: Engine
    counter: TokenCounter

    @classmethod
    def open(cls, home: Home, build: str | None = None) -> "Judge":
        """Open the published build, or another by name.

        Raises NotBuiltError when nothing is published, StoreError when a file is missing.
        """
        engine = Engine.open(home.root, home.settings, build)
        return cls(home, engine.build.name, engine, token_counter(read_choices(home)))

    @cached_property
    def present(self) -> frozenset[str]:
        """The notes that can be found: those with a present chunk."""
        return frozenset(
            note
            for folder in self.engine.build.folders
            for note in _present(folder.rows.note_ids, folder.rows.notes, folder.rows.is_current)
        )

    def variant(self, name: str) -> Variant:
        """Open one variant. Raises SettingsError for an unknown one."""
        return self._variants([name])[0]

    def score(
        self, posed: Sequence[Posed], variants: Sequence[str], folders: Sequence[str] | None = None
    ) -> Scores:
        """Ask the variants these questions, within some folders or the whole build."""
        return score(
            posed, self._variants(variants), self.present, self.counter.count, folders=folders
        )

    def _variants(self, names: Sequence[str]) -> list[Variant]:
        notes = partial(present_notes, self.home.data, self.build)
        return open_variants(names, self.engine, notes, self.counter)


def _present(note_ids: pa.Array, notes: np.ndarray, is_current: np.ndarray) -> list[str]:
    names: list[str] = note_ids.take(pa.array(np.unique(notes[is_current]))).to_pylist()
    return names
