"""A small vault made by the tests: every kind of note once, and files that are not read."""

from pathlib import Path

NOTES = {
    "Home.md": "# Home\n\nStart at [[Harbour plan]] or [[Ferry log]].\n",
    "Work/Harbour plan.md": (
        "---\ndate: 2024-03-14\ntags: [plan, harbour/east]\naliases: [East plan]\nstatus: draft\n"
        "---\n# Harbour plan\n\nThe east pier costs 120,000 euros. See [[Ferry log#2024-05-02]].\n"
    ),
    "Work/2024-06-01 Minutes.md": (
        "# Minutes\n\nDecided: the pier is built in autumn. Owner:: [[Mara Lind]]\n"
    ),
    "Work/Ferry log.md": (
        "# Ferry log\n\n## 2024-05-02\n\nThe ferry Aurora carried 310 passengers.\n\n"
        "## 2024-07-09\n\nThe ferry Aurora carried 402 passengers after the new timetable.\n"
    ),
    "People/Mara Lind.md": "---\nkind: wiki\naliases: Lind\n---\nMara Lind leads the harbour.\n",
    "People/东港.md": "# 东港\n\n2024年3月14日，东港码头的预算是十二万欧元。\n",
    "Chats/Names.md": (
        "**User:** Name the pier?\n\n**Assistant:** Call it Northlight.\n\n"
        "**User:** No.\n\n**Assistant:** Then Eastlight.\n"
    ),
    "Broken/Fwd.md": "---\ntitle: Fwd: ferry hi\n---\nThe invoice of the ferry yard is open.\n",
}
OTHER_FILES = {
    "Work/map.canvas": b"{}",
    "People/photo.png": b"\x89PNG",
    ".obsidian/app.json": b"{}",
}


def make_vault(root: Path) -> Path:
    """Write the vault and return its folder."""
    for path, text in NOTES.items():
        put(root, path, text)
    for path, content in OTHER_FILES.items():
        put(root, path, content)
    return root


def put(root: Path, path: str, content: str | bytes) -> Path:
    """Write one file of a vault."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.encode() if isinstance(content, str) else content)
    return target
