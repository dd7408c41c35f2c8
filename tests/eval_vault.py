"""A small vault with questions whose answers the stand-in's vectors find and words alone do not.

Each note says one thing in words of its own; a question shares words with it that stand in every
other note too, so that keyword search has little to go by.
"""

import json
from pathlib import Path

from tests.small_vault import put

TOPICS = (
    "pier", "ferry", "lighthouse", "dredger", "crane", "tide", "customs", "warehouse", "pilot",
    "anchor", "buoy", "slipway",
)  # fmt: skip
FOLDERS = ("Harbour", "Town")


def make_eval_vault(root: Path) -> Path:
    """Write two folders of notes on one topic each."""
    for number, topic in enumerate(TOPICS):
        folder = FOLDERS[number % 2]
        put(root, f"{folder}/{topic.title()}.md", note_text(topic, number))
    return root


def note_text(topic: str, number: int, edit: str = "") -> str:
    """Return a note; `edit` is another line, so that it has to be embedded anew."""
    return (
        f"---\ndate: 2024-03-{number + 1:02}\n---\n# {topic.title()}\n\n"
        f"The {topic} costs {number + 3} thousand euros a year.\n\n{edit}\n"
    )


def note_path(topic: str) -> str:
    """Return where a topic's note lies."""
    return f"{FOLDERS[TOPICS.index(topic) % 2]}/{topic.title()}.md"


def question_row(topic: str) -> dict[str, object]:
    """Return one question about a topic, as a file holds it."""
    number = TOPICS.index(topic)
    note = note_path(topic)
    fact = {"fact": "its cost", "note": note, "quote": f"costs {number + 3} thousand euros"}
    return {
        "id": f"cost-{topic}",
        "question": f"What does the {topic} cost a year?",
        "category": "single_fact",
        "essential": [note],
        "facts": [fact],
    }


def write_questions(home: Path, topics: tuple[str, ...] = TOPICS) -> Path:
    """Write the questions into a home."""
    lines = [json.dumps(question_row(topic)) for topic in topics]
    return put(home / "data" / "eval", "costs.jsonl", "\n".join(lines) + "\n")
