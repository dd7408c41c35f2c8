"""Flip one bit of a home's data, again and again, and see that it is found or does no harm.

`python -m benchmarks.flipped_bits --flips 500` builds a small home with scores, an earlier build
and Dagster's history, and flips one random bit of a fresh copy per trial. Half of the bits are
drawn over all bytes, half over kinds of files first, so that small ones have their turn.

`kb verify` must report the damage. If it does not, answers and a following build must be those of
the sound home, byte for byte: then it was harmless. Reading a damaged home must end in words,
never in a traceback. Where all is mendable, mending and building must bring back the same bytes
and run no stage but the damaged file's own. For Dagster's files, which no answer depends on,
detected means that SQLite finds its pages wrong; harmless also that a real build still works.
"""

import argparse
import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.direct_build import Work, build_directly
from benchmarks.report import progress, report
from kb_assets.workbench import Workbench
from kb_core.errors import KbError
from kb_core.ids import canonical_json
from kb_search.engine import Engine
from kb_serve.builder import Builder
from kb_serve.keeping.checks import verify
from kb_serve.keeping.damage import Damage
from kb_serve.keeping.mending import mend
from kb_serve.keeping.named import needed_builds
from kb_serve.new_home import make_home
from resources.builds import Builds
from resources.closure import kept_files
from resources.home import Home
from tests.eval_vault import TOPICS, make_eval_vault, note_path, note_text, write_questions
from tests.small_vault import put
from tests.standins.ollama_server import OllamaStandIn

_Result = TypeVar("_Result")

_QUESTIONS = ("What does the ferry cost a year?", "Which pier is the dearest?", "lighthouse")
_IN_WORDS = (KbError, OSError, sqlite3.Error)  # what the `kb` command says without a traceback
_STAGES = {
    "files": "placeholders", "notes": "notes", "note_links_raw": "notes", "note_tags": "notes",
    "findings": "notes", "chunks": "chunks", "keyword_index": "keyword_index",
    "passages": "embeddings", "vectors": "embeddings", "note_links": "note_links",
    "folders": "note_links",
}  # fmt: skip
# What lies beside the store and is made anew by these stages.
_JUDGING = ("build", "published", "eval_report", "eval_scores")


def main() -> int:
    """Run the trials; status 1 if a flip was silent or mending did too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, OllamaStandIn() as server:
        trials = _Trials(Path(scratch), server, arguments.seed)
        for number in range(arguments.flips):
            trials.run(number)
            if number % 25 == 24:
                progress(f"{number + 1} flips: {dict(trials.figures)}")
    names = ("silent", "tracebacks", "not_as_before", "rebuilt_more_than_needed", "embedded_again")
    figures = {name: trials.figures[name] for name in ("flips", "detected", "harmless", *names)}
    figures |= {name: trials.figures[name] for name in ("mended", "needs_backup")}
    areas = {area: dict(counts) for area, counts in sorted(trials.areas.items())}
    aims = dict.fromkeys(names, "<= 0")
    return 0 if report("flipped_bits", figures, aims, areas=areas) else 1


class _Trials:
    """One sound home, and copies of it to damage."""

    def __init__(self, scratch: Path, server: OllamaStandIn, seed: int) -> None:
        self._sound, self._root = scratch / "sound", scratch / "home"
        self._server = server
        self._rng = np.random.default_rng(seed)
        self.figures: Counter[str] = Counter()
        self.areas: dict[str, Counter[str]] = {}
        self.said = ""
        self._make(scratch / "vault")
        shutil.copytree(self._root, self._sound)
        self._files = [path for path in sorted(self._sound.rglob("*")) if _is_stored(path)]
        home = self._fresh()
        self._answers, self._bytes = _answers(home), _stored_bytes(home)
        if build_directly(home) or verify(home, everything=True).damages:
            raise SystemExit("The sound home has work to do or is damaged: nothing can be shown.")

    def run(self, number: int) -> None:
        """Flip one bit and see what becomes of it."""
        path, position, bit = self._choose(by_kind=number % 2 == 0)
        area = _area(path)
        home = self._flipped(path, position, bit)
        where = f"{path}, byte {position}, bit {bit}"
        damages = self._in_words(lambda: verify(home, everything=True).damages, where)
        if damages:
            self._count(area, "detected")
            self._read_damaged(path, position, bit, where)
            self._mend(home, path, damages, where)
        else:
            is_harmless = damages is not None and self._is_harmless(home, area, where)
            self._count(area, "harmless" if is_harmless else "silent")
            if not is_harmless:
                progress(f"silent: {where}")
        self.figures["flips"] += 1

    def _make(self, vault: Path) -> None:
        """Build twice by Dagster, with an edit between, so that there is an earlier build."""
        home = make_home(make_eval_vault(vault), self._root)
        settings = self._root / "kb.toml"
        text = settings.read_text().replace('engine = "auto"', 'engine = "ollama"')
        text = text.replace("http://127.0.0.1:11434", self._server.url)
        settings.write_text(text.replace('token_counter = "auto"', 'token_counter = "regex"'))
        put(vault, "Home.md", "# Home\n\nStart at [[Ferry]] or [[Pier]].\n")
        write_questions(self._root)
        home = Home.open(self._root)
        _build_for_real(home)
        put(vault, note_path(TOPICS[0]), note_text(TOPICS[0], 0, "It was repaired in May."))
        _build_for_real(home)
        if len(Builds(home.data).published()) < 2:
            raise SystemExit("There should be an earlier build.")

    def _fresh(self) -> Home:
        shutil.rmtree(self._root, ignore_errors=True)
        shutil.copytree(self._sound, self._root)
        return Home.open(self._root)

    def _flipped(self, path: str, position: int, bit: int) -> Home:
        home = self._fresh()
        data = bytearray((self._root / path).read_bytes())
        data[position] ^= 1 << bit
        (self._root / path).write_bytes(data)
        return home

    def _choose(self, *, by_kind: bool) -> tuple[str, int, int]:
        """Return a file below the home, a byte of it and a bit of that."""
        files = self._files
        if by_kind:
            areas = sorted({_area(self._below(path)) for path in files})
            area = areas[int(self._rng.integers(len(areas)))]
            files = [path for path in files if _area(self._below(path)) == area]
            path = files[int(self._rng.integers(len(files)))]
        else:
            sizes = np.array([each.stat().st_size for each in files], float)
            path = files[int(self._rng.choice(len(files), p=sizes / sizes.sum()))]
        position = int(self._rng.integers(path.stat().st_size))
        return self._below(path), position, int(self._rng.integers(8))

    def _below(self, path: Path) -> str:
        return path.relative_to(self._sound).as_posix()

    def _read_damaged(self, path: str, position: int, bit: int, where: str) -> None:
        """Ask and build as somebody would who has not checked: it may fail, but in words."""
        home = self._flipped(path, position, bit)
        self._in_words(lambda: _answers(home), f"asking with {where}")
        self._in_words(lambda: build_directly(home), f"building with {where}")

    def _mend(self, home: Home, path: str, damages: tuple[Damage, ...], where: str) -> None:
        if not all(damage.kind.is_mendable for damage in damages):
            self.figures["needs_backup"] += 1
            return
        asked = len(self._server.scenario.batches())
        mended = self._in_words(lambda: mend(home, damages), f"mending {where}")
        work = self._in_words(lambda: build_directly(home), f"building anew after {where}")
        if mended is None or work is None:
            self.figures["not_as_before"] += 1
            progress(f"not mended after {where}: {self.said}")
            return
        self.figures["mended"] += 1
        texts = _passages(self._server.scenario.batches()[asked:])
        self.figures["embedded_again"] += texts
        too_much = [each for each in work if not _is_needed(each, path)]
        if too_much:
            self.figures["rebuilt_more_than_needed"] += 1
            progress(f"too much after {where}: {too_much}")
        left = verify(home, everything=True).damages
        if left or not self._is_as_before(home):
            self.figures["not_as_before"] += 1
            progress(f"not as before after {where}: {left}")

    def _is_harmless(self, home: Home, area: str, where: str) -> bool:
        if area.startswith("dagster"):
            built = self._in_words(lambda: _build_for_real(home), f"a real build with {where}")
        else:
            built = self._in_words(lambda: build_directly(home) == [], f"building with {where}")
        return bool(built) and self._is_as_before(home)

    def _is_as_before(self, home: Home) -> bool:
        try:
            return _answers(home) == self._answers and _stored_bytes(home) == self._bytes
        except KbError as problem:
            progress(str(problem))
            return False

    def _in_words(self, action: Callable[[], _Result], where: str) -> _Result | None:
        """Do it; what fails in words is None, anything else is a traceback somebody would see."""
        try:
            return action()
        except _IN_WORDS as problem:
            self.said = str(problem)
            return None
        except Exception as problem:  # noqa: BLE001 (that is what is counted)
            self.figures["tracebacks"] += 1
            progress(f"traceback, {where}: {type(problem).__name__}: {problem}")
            return None

    def _count(self, area: str, what: str) -> None:
        self.figures[what] += 1
        self.areas.setdefault(area, Counter())[what] += 1


def _build_for_real(home: Home) -> bool:
    """Build as `kb build` does, Dagster included; tell whether all went well."""
    here = Path.cwd()
    try:
        summary = Builder(Workbench(home), lambda _text: None).run()
    finally:
        os.chdir(here)
    return not summary.errors


def _answers(home: Home) -> str:
    """Return what the published build answers, as text to compare."""
    engine = Engine.open(home.root, home.settings)
    found = [
        engine.search(question, variant=variant).to_json()
        for question in _QUESTIONS
        for variant in ("hybrid", "keyword")
    ]
    return canonical_json(found)


def _stored_bytes(home: Home) -> dict[str, bytes]:
    """Return everything that equal builds share: pointers, named files, needed builds, CURRENT."""
    builds = Builds(home.data)
    needed = needed_builds(home)
    files = [home.store.root / path for path in kept_files(home.store, builds, needed)]
    files += [path for path, _ in home.store.pointers()]
    files += [builds.files(name)[0] for name in needed]
    files += [home.data / "CURRENT"]
    return {path.relative_to(home.data).as_posix(): path.read_bytes() for path in sorted(files)}


def _passages(batches: list[list[str]]) -> int:
    """Count the texts that were embedded: passages begin with a line of their own, no question."""
    return sum("\n" in text for batch in batches for text in batch)


def _is_needed(work: Work, path: str) -> bool:
    """Tell whether a stage's work follows from this file's damage."""
    stage, partition = work
    parts = Path(path).parts[1:]
    if parts[0] != "store":
        return stage in _JUDGING
    named = parts[2].removesuffix(".json")
    return stage == _STAGES[parts[1]] and partition == named


def _is_stored(path: Path) -> bool:
    """Leave out what the user writes: kb.toml, questions."""
    if not path.is_file() or not path.stat().st_size:
        return False
    parts = path.parts
    at = len(parts) - 1 - parts[::-1].index("sound")
    below = parts[at + 1 :]
    return below[0] == "data" and below[1] not in ("eval", "overrides")


def _area(path: str) -> str:
    """Name the kind of a file by its path below the home."""
    parts = Path(path).parts[1:]
    ending = Path(path).suffix
    if len(parts) == 1:
        return "records" if ending else "CURRENT"
    if parts[0] == "builds":
        return "builds." + ".".join(parts[1].split(".")[1:])
    if parts[0] == "cache":
        return f"cache.{parts[1]}"
    return f"{parts[0]}{ending}"


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
