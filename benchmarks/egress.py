"""Look for words of closed folders in everything that a language model's provider was ever sent.

`python -m benchmarks.egress` makes a vault of 20 folders, of which 3 may be sent; every note holds
words that stand nowhere else, in its text, title, aliases and file name, and links to and mentions
notes of other folders. Open folders hold private notes and conversations too. After whole builds
(triage, extraction, re-typing, once more after edits, and a pilot) the stand-in's log is searched.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import progress, report
from tests.small_vault import put
from tests.standins.anthropic_server import KEY, AnthropicStandIn

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = tuple(f"Folder {n:02}" for n in range(20))
OPEN = FOLDERS[3:14:5]  # three, none beside another
PLACES = ("title", "alias", "text", "chat", "private")


def main() -> int:
    """Build, edit, build again, try a pilot, and search; status 1 if a closed word was sent."""
    with tempfile.TemporaryDirectory() as scratch, AnthropicStandIn() as server:
        vault, home = Path(scratch, "vault"), Path(scratch, "home")
        for path, text in canary_notes(FOLDERS).items():
            put(vault, path, text)
        _kb(server, "init", str(vault), "--home", str(home))
        _kb(server, "build", "--home", str(home))
        for folder in FOLDERS:
            text = canary_notes(FOLDERS)[f"{folder}/Diary.md"]
            put(vault, f"{folder}/Diary.md", f"{text}\nAnd more of it.\n")
            put(vault, f"{folder}/New.md", f"# New\n\nThe new {canary(folder, 'text')} costs 9.\n")
        _kb(server, "plan", "--folder", OPEN[0], "--try", "2", "--home", str(home))
        _kb(server, "build", "--home", str(home))
        sent = server.sent_text()
        figures = {
            "folders": len(FOLDERS),
            "folders_allowed": len(OPEN),
            "requests": len(server.book.records),
            "closed_words_sent": count(sent, [each for each in FOLDERS if each not in OPEN]),
            "private_words_sent": sum(canary(each, "private") in sent for each in FOLDERS),
            "open_texts_sent": sum(canary(each, "text") in sent for each in OPEN),
        }
    aims = {
        "closed_words_sent": "<= 0",
        "private_words_sent": "<= 0",
        "open_texts_sent": f">= {len(OPEN)}",
    }
    return 0 if report("egress", figures, aims) else 1


def canary(folder: str, place: str) -> str:
    """Return a word that stands in one place of one folder alone."""
    return f"Zq{place}{folder[-2:]}xv"


def count(sent: str, folders: Sequence[str]) -> int:
    """Count the words of some folders that were sent."""
    return sum(canary(folder, place) in sent for folder in folders for place in PLACES)


def canary_notes(folders: Sequence[str]) -> dict[str, str]:
    """Return notes whose folders link to, mention and rename each other."""
    found = {}
    for at, folder in enumerate(folders):
        one, other = folders[at - 1], folders[(at + 1) % len(folders)]
        title = f"{canary(folder, 'title')} Quay"
        found[f"{folder}/{title}.md"] = (
            f"---\ndate: 2024-03-14\naliases: [{canary(folder, 'alias')} Pier]\n"
            f"related: '[[Shared {one[-2:]}]]'\nnear: '[[Shared {other[-2:]}]]'\n---\n"
            f"# {title}\n\nThe {canary(folder, 'text')} quay costs {at} euros. "
            f"It stands beside [[Shared {one[-2:]}]] and Harbour Yard.\n"
        )
        found[f"{folder}/Shared {folder[-2:]}.md"] = (
            f"---\nkind: chat\n---\n**User:** {canary(folder, 'chat')} Crane needs Yard Nine?\n\n"
            "**Assistant:** We decided that it costs 5 euros.\n"
        )
        found[f"{folder}/Diary.md"] = (
            f"---\nprivate: true\n---\n# Diary\n\n{canary(folder, 'private')} Person likes it.\n"
        )
    return found


def _kb(server: AnthropicStandIn, *arguments: str) -> None:
    settings = {
        "ANTHROPIC_API_KEY": KEY,
        "KB_LLM__ENGINE": "anthropic",
        "KB_LLM__URL": server.url,
        "KB_LIMITS__AUTO_APPROVE_USD": "100",
        "KB_LIMITS__MONTHLY_USD": "100",
        "KB_EGRESS__ALLOW": json.dumps(list(OPEN)),
        "KB_EMBEDDER__ENGINE": "none",
        "KB_CHUNKS__TOKEN_COUNTER": "regex",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-m", "kb_serve.cli", *arguments],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    progress(f"kb {arguments[0]}: status {done.returncode}")


if __name__ == "__main__":
    sys.exit(main())
