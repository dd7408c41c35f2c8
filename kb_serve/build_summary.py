"""What a build did, as `kb build --json` prints it."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kb_core.money import DOLLAR


@dataclass
class Summary:
    """What a build did."""

    build: str = ""
    is_changed: bool = False
    first_words_seconds: float | None = None
    words_seconds: float | None = None
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    files: Counter[str] = field(default_factory=Counter)  # of the whole vault
    report: dict[str, Any] = field(default_factory=dict)
    errors: list[dict[str, str]] = field(default_factory=list)
    note: str = ""
    paid: Counter[str] = field(default_factory=Counter)  # of this build: asked, nano-dollars
    plans: list[dict[str, Any]] = field(default_factory=list)  # what is left to ask
    waiting: str = ""  # what waits for somebody's word
    pinned: str = ""  # the build that answers because the user said so

    def to_json(self) -> dict[str, Any]:
        """Return the summary as `kb build --json` prints it."""
        scored = self.report.get("evaluation") or {}
        report = {key: int(v) for key, v in self.report.items() if isinstance(v, int | float)}
        return {
            "build": self.build,
            "changed": self.is_changed,
            "embedded": self.counts["embedded"],
            "embedding_failed": self.counts["embedding_failed"],
            "new_versions": self.counts["new_versions"],
            "gone": self.counts["gone"],
            "files": self.files["files"],
            "indexed": self.files["indexed"],
            "skipped": self.files["skipped"],
            "failed": self.files["failed"],
            **report,
            "scores": scored.get("figures", {}),
            "headline": scored.get("headline", ""),
            "pinned": self.pinned,
            "first_words_seconds": self.first_words_seconds,
            "words_seconds": self.words_seconds,
            "seconds": round(self.seconds, 2),
            "note": self.note,
            "asked": self.paid["asked"],
            "estimated_usd": self.paid["estimated_nano"] / DOLLAR,
            "billed_usd": self.paid["billed_nano"] / DOLLAR,
            "billed_nano": self.paid["billed_nano"],
            "plans": self.plans,
            "waiting": self.waiting,
            "errors": self.errors,
        }
