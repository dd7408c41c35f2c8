"""How a build may go otherwise than planned: ended at any file, its folders in any order."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

from tests.incremental_vault import Pick


class CutOffError(Exception):
    """The process ended here."""


@contextmanager
def cut_off_at(number: int, *, is_done: bool) -> Iterator[list[str]]:
    """End what happens inside at the n-th file that is put in its place, before or after."""
    replace, calls = os.replace, []

    def counting(source: str, target: str) -> None:
        calls.append(str(target))
        if len(calls) == number and not is_done:
            raise CutOffError
        replace(source, target)
        if len(calls) == number:
            raise CutOffError

    with mock.patch.object(os, "replace", counting):
        yield calls


def shuffled(items: Sequence[str], pick: Pick) -> list[str]:
    """Return the items in some order: from one of them on, forwards or backwards."""
    if not items:
        return []
    start = pick(range(len(items)))
    turned = [*items[start:], *items[:start]]
    return turned[:: pick((1, -1))]
