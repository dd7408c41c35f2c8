"""Say who reads the notes' prose by this home's settings, and what is missing for it."""

from typing import Any

from kb_assets.paid_work import reader_of
from kb_core.errors import LLMError
from resources.home import Home
from resources.open_llm import open_llm


def reading_model(home: Home) -> dict[str, Any]:
    """Return who reads, which folders may be sent, and what is missing. Sends nothing."""
    reader, problem = reader_of(home)
    if reader and not problem:
        try:
            open_llm(home.settings.llm)
        except LLMError as missing:
            problem = str(missing)
    return {
        "by": reader.label if reader else "rules-v1",
        "engine": home.settings.llm.engine,
        "stays_here": reader.is_local if reader else True,
        "may_be_sent": list(home.settings.egress.allow),
        "problem": problem,
    }


def in_words(found: dict[str, Any]) -> str:
    """Say it in one line."""
    if found["engine"] == "rules":
        return "rules-v1: cue words in English and Chinese, free, nothing leaves this machine"
    if found["problem"]:
        return f"rules-v1, because {found['problem']}"
    if found["stays_here"]:
        return f"{found['by']} on this machine"
    folders = ", ".join(folder or "(root)" for folder in found["may_be_sent"])
    allowed = folders or "no folder: list some under [egress] in kb.toml"
    return f"{found['by']} for {allowed}; `kb plan` says what it costs"
