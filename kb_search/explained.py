"""Why a search gave what it gave: the route, what was named, which lines were kept. Pure."""

from typing import Any

from kb_search.context import line_extractors, line_role, line_text
from kb_search.graph_layer import KeptLine
from kb_search.results import SearchResult

_DECIMALS = 3
_MOST_LINES = 40


def explained(found: SearchResult) -> dict[str, Any]:
    """Return the reasons behind a result as a JSON value; what no graph joined has few."""
    guided = found.guided
    if guided is None:
        return {"route": {"uses_graph": False, "reasons": ["the variant asked for has no graph"]}}
    lines = guided.answer.lines
    return {
        "route": {"uses_graph": guided.route.uses_graph, "reasons": list(guided.route.reasons)},
        "decision": {
            "behaviour": guided.decision.behaviour,
            "reason": guided.decision.reason,
            "covered": round(guided.signals.covered, _DECIMALS),
            "similarity": guided.signals.similarity,
        },
        "named": list(guided.named),
        "entries": list(guided.entries),
        "asked": list(guided.asked_for),
        "lines": [_line(each) for each in lines[:_MOST_LINES]],
        "lines_not_shown": max(0, len(lines) - _MOST_LINES),
        "trimmed": guided.answer.trimmed,
        "front": list(guided.answer.front),
    }


def _line(kept: KeptLine) -> dict[str, Any]:
    return {
        "text": line_text(kept),
        "role": line_role(kept),
        "score": round(kept.score, _DECIMALS),
        "asked_for": kept.is_implied,
        "superseded": kept.is_past,
        "disputed": kept.is_disputed,
        "extractors": list(line_extractors(kept)),
        "notes": list(kept.line.note_ids),
    }
