"""Where the lines of a drawing run. Pure: numbers in, points of an SVG out."""

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
