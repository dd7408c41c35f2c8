"""The order of the test files: those that start processes first, so that no worker ends alone.

pytest-xdist hands out whole files. A file of a minute that begins last makes everybody wait.
"""

from pathlib import Path

import pytest

_FIRST = (
    "test_road",
    "test_eval_road",
    "test_page_processes",
    "test_page",
    "test_sensors_road",
    "test_commands",
    "test_incremental",
    "test_verify",
    "test_backup",
    "test_soundness",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the slow files first; the order within a file stays."""
    places = {name: place for place, name in enumerate(_FIRST)}
    items.sort(key=lambda item: places.get(Path(item.path).stem, len(places)))
