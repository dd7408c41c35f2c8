"""Boards made by the tests: everything done and well, but for what a test changes."""

import datetime as dt

from kb_assets.build.publish import Verdict
from kb_serve.board.data import Board, FolderState

NOW = dt.datetime(2024, 5, 2, 12, 0, tzinfo=dt.UTC)
BUILD, OTHER = "a" * 32, "b" * 32


def folder(name="Work", *, run=None, scores=(), waiting=0, left=0.0, **counts):
    row = {
        "folder": name,
        "partition": "work-1",
        "files": 3,
        "notes": 2,
        "indexed": 2,
        "skipped": 1,
        "failed": 0,
        "adds_up": True,
        "texts": 4,
        "with_vectors": 4,
    }
    return FolderState(row | counts, waiting, run, tuple(scores), left)


def board(*folders, **changed):
    fields = {
        "root": "/home",
        "vault": "/vault",
        "looked_at": NOW,
        "answers": BUILD,
        "answers_since": NOW,
        "verdict": Verdict(BUILD, answers=BUILD),
        "report": {"notes": 2, "is_complete": 1},
        "folders": folders or (folder(),),
        "scores": (),
        "has_questions": True,
        "makes_vectors": True,
    }
    return Board(**{**fields, **changed})
