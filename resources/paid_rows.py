"""Look at every paid answer there is: do its bytes still fit its checksum? Reads only."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from resources.paid_answers import ALL_ROWS, is_sound_answer
from resources.soundness import database_problem, database_words, open_to_check
from resources.sqlite_files import DAMAGE

_TOGETHER = 500


def paid_problem(path: Path, progress: Callable[[int], None] = lambda read: None) -> str:
    """Say what is wrong with a file of paid answers; empty text if it and every row are sound."""
    problem = database_problem(path)
    if problem:
        return problem
    damaged = 0
    try:
        with closing(open_to_check(path)) as db:
            rows = db.execute(ALL_ROWS)
            while some := rows.fetchmany(_TOGETHER):
                damaged += sum(not is_sound_answer(row) for row in some)
                progress(sum(len(row[1]) + len(row[2]) for row in some if is_sound_answer(row)))
    except DAMAGE as failed:
        return database_words(failed)
    return f"{damaged} of its answers do not fit their checksums" if damaged else ""
