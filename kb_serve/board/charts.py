"""Where the lines and bars of a drawing run. Pure: numbers in, points of an SVG out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Value = float | None  # None: not measured


@dataclass(frozen=True)
class Point:
    """One measured value and where it stands, in the drawing's own units."""

    x: float
    y: float
    value: float
    index: int  # of the value among all


@dataclass(frozen=True)
class Line:
    """One measure over time."""

    name: str
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        """Return the points as an SVG polyline takes them."""
        return " ".join(f"{point.x:g},{point.y:g}" for point in self.points)

    @property
    def last(self) -> Point:
        """Return the newest point."""
        return self.points[-1]


@dataclass(frozen=True)
class Bar:
    """One sum, as a bar that stands on the bottom."""

    x: float
    y: float
    width: float
    height: float
    index: int  # of the value among all


@dataclass(frozen=True)
class Bars:
    """Sums over time, and the value at the top of their drawing."""

    top: float
    bars: tuple[Bar, ...]  # of what is not nothing


def line(name: str, values: Sequence[Value], width: float, height: float) -> Line | None:
    """Place values between 0 (bottom) and 1 (top), evenly from left to right, newest at the right.

    A value that was not measured leaves its place empty. None if nothing was.
    """
    last = len(values) - 1
    points = tuple(
        Point(
            round(width * (index / last if last else 1), 2),
            round(height * (1 - min(1.0, max(0.0, value))), 2),
            value,
            index,
        )
        for index, value in enumerate(values)
        if value is not None
    )
    return Line(name, points) if points else None


def bars(values: Sequence[float], width: float, height: float) -> Bars | None:
    """Place sums side by side, newest at the right, below a round number. None if all are 0."""
    most = max(values, default=0)
    if most <= 0:
        return None
    top, step = _round_up(most), width / len(values)
    placed = tuple(
        Bar(
            round(index * step + step / 8, 2),
            round(height * (1 - value / top), 2),
            round(step * 3 / 4, 2),
            round(height * value / top, 2),
            index,
        )
        for index, value in enumerate(values)
        if value > 0
    )
    return Bars(top, placed)


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, … that is not below, in whatever power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = (power * factor for factor in (1, 2, 5, 10))
    return next((step for step in steps if step >= value), power * 10)
