"""Draw a sweep or a home's evaluation history into one file. Equal input draws equal bytes."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kb_core.errors import SettingsError
from resources.atomic_files import write_atomically

_ENDINGS = (".svg", ".png")
_INK = ("#1b1b1b", "#b3261e", "#6b6b6b", "#2f5d8a", "#9a9a9a")
_MARKS = ("o", "s", "^", "D", "v")
_MOST_TICKS = 16  # more labels side by side run into each other

Lines = Mapping[str, Sequence[float | None]]  # name -> one value for each tick


def check_ending(path: Path) -> None:
    """Raise SettingsError for a kind of file that is not drawn, before anything is measured."""
    if path.suffix.lower() not in _ENDINGS:
        raise SettingsError(f"{path.name} cannot be drawn: give a file that ends in .svg or .png.")


def draw(path: Path, title: str, across: str, ticks: Sequence[str], lines: Lines) -> None:
    """Draw lines from 0 to 1 over labelled ticks. A value of None leaves a gap."""
    check_ending(path)
    _keep_fonts_elsewhere()
    from matplotlib import rc_context  # 0.5 s, and only plots need it
    from matplotlib.figure import Figure

    style: Any = {"svg.hashsalt": "kb", "font.size": 9}
    with rc_context(style | {"axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.add_subplot()
        for at, (name, values) in enumerate(lines.items()):
            _line(axes, at, name, values)
        axes.set(title=title, xlabel=across, ylim=(0, 1.02))
        shown = range(0, len(ticks), 1 + len(ticks) // _MOST_TICKS)
        axes.set_xticks(shown, [ticks[at] for at in shown])
        axes.grid(axis="y", color="#e0e0e0", linewidth=0.6)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        _save(figure, path)


def _keep_fonts_elsewhere() -> None:
    """Let matplotlib keep its list of fonts in a folder that goes with this process.

    It must not write into the user's own folders for that.
    """
    if "MPLCONFIGDIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="kb-fonts-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["MPLCONFIGDIR"] = folder


def _line(axes: Any, at: int, name: str, values: Sequence[float | None]) -> None:
    marks = [float("nan") if value is None else value for value in values]
    color, mark = _INK[at % len(_INK)], _MARKS[at % len(_MARKS)]
    axes.plot(range(len(marks)), marks, label=name, color=color, marker=mark, markersize=4)


def _save(figure: Any, path: Path) -> None:
    from io import BytesIO

    sink = BytesIO()
    kind = path.suffix.lower().lstrip(".")
    dated = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(sink, format=kind, metadata=dated, dpi=150)
    write_atomically(path, sink.getvalue())
