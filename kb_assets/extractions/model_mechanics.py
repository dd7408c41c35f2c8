"""What an answer says that is about talking, not about the world: who asked whom, and orders. Pure.

The prompt forbids the mechanics of conversations; what slips through all the same is told here by
the ends of a link, by its verb and by what a claim calls its attribute.
"""

import re
from collections.abc import Iterator

from kb_assets.extractions.model_words import plain
from kb_core.names import folded, name_key
from kb_core.ontology import RELATED_TO

_ROLES = re.compile(
    r"(?:the |an? |our |my )?(?:ai|assistant|ai assistant|user|bot|chatbot|model|language model|llm"
    r"|human|speaker|chat|conversation|prompt|reader|nutzer|用户|助手|模型|对话)"
)
_ASSISTANTS = re.compile(
    r"(?:chat)?gpt[\w.-]*|claude[\w. -]*|gemini[\w. -]*|copilot|(?:microsoft|github) copilot|bard"
    r"|perplexity|deepseek|grok|mistral|llama[\w. -]*"
)
_VERBS = re.compile(
    r"\b(?:ask(?:s|ed|ing)?|answer(?:s|ed|ing)?|repl(?:y|ies|ied|ying)|respond(?:s|ed|ing)?"
    r"|prompt(?:s|ed|ing)?|thank(?:s|ed|ing)?|greet(?:s|ed|ing)?|generat(?:es?|ed|ing)"
    r"|request(?:s|ed|ing)?|explain(?:s|ed|ing)?|clarif(?:y|ies|ied)|apologi[sz](?:es?|ed)"
    r"|said to|told|tells|wrote to|writes to|chat(?:s|ted)? with|talk(?:s|ed)? to"
    r"|fragt(?:e|en)?|antwortet(?:e|en)?|bat|dankt(?:e)?)\b|问了?|回答|回复|询问|请求|感谢"
)
_TALK = """
    answer apology ask clarification conversation follow_up greeting message prompt query question
    questions reply request response thanks user_request 问题 回答 回复 请求
"""
_ATTRIBUTES = frozenset(_TALK.split())
_SENTENCE_END = re.compile(r"[.!?。！？:：;；]\s|[。！？]")
_MARKS = " \t-*>#\"'([•·_`0123456789.)"
# Verbs that an order to a writer begins with. What to do is no fact, whoever is to do it.
_ORDER = re.compile(
    r"(?:(?:please|kindly|now|then|also|always|never|do not|don't|you must|you should|you can)"
    r"[, ]+)*"
    r"(?:add|analy[sz]e|append|calculate|compare|complete|compose|convert|craft|create|delete"
    r"|describe|develop|discuss|draft an?|explain|forget|generate|give|highlight|identify|ignore"
    r"|include|insert|instruct|make|modify|paraphrase|print|propose|provide|put|recommend|refer|reformat"
    r"|render|repeat|replace|reply|respond|reveal|rewrite|say|send|solve|suggest|summari[sz]e|tell"
    r"|translate|write)\b"
)
# What only somebody who is to write an answer, or code, can be told.
_TO_A_WRITER = re.compile(
    r"\byour (?:own )?(?:answer|message|output|reply|response)\b"
    r"|\b(?:in|into|to|within|with|for) your (?:algorithm|code|codebase|implementation|solution)\b"
    r"|\b(?:below|following|subsequent) code (?:block|excerpt|section|snippet)\b"
)
_BLOCKS = re.compile(r"\n\s*\n|\n(?=[ \t>]*(?:[-*+#|]|[0-9]{1,9}[.)][ \t]))")


def is_mechanics_of_link(ends: tuple[str, str], kind: str, evidence: str) -> bool:
    """Tell whether a link says who talked to whom."""
    keys = [name_key(end) for end in ends]
    if any(_ROLES.fullmatch(key) for key in keys):
        return True
    has_verb = bool(_VERBS.search(_between(folded(plain(evidence)), keys)))
    return has_verb and (kind == RELATED_TO or any(_ASSISTANTS.fullmatch(key) for key in keys))


def is_mechanics_of_claim(entity: str, attribute: str) -> bool:
    """Tell whether a claim says what somebody asked or answered; `attribute` is folded."""
    return bool(_ROLES.fullmatch(name_key(entity))) or attribute in _ATTRIBUTES


def is_question(quote: str, text: str) -> bool:
    """Tell whether all places where a quote stands are in questions: nothing is stated there."""
    return all(sentence.endswith(("?", "？")) for sentence in _sentences(quote, text))


def is_order(quote: str, text: str) -> bool:
    """Tell whether a quote stands in a sentence that tells somebody what to do."""
    sentences = [folded(sentence).lstrip(_MARKS) for sentence in _sentences(quote, text)]
    return any(_ORDER.match(each) or _TO_A_WRITER.search(each) for each in sentences)


def _between(evidence: str, keys: list[str]) -> str:
    """Return what stands between two names, or all of it where they don't stand apart."""
    places = sorted((evidence.find(key), len(key)) for key in keys)
    if places[0][0] < 0:
        return evidence
    return evidence[places[0][0] + places[0][1] : places[1][0]] or evidence


def _sentences(quote: str, text: str) -> list[str]:
    """Return the sentences that a quote stands in; one over several blocks stands for itself."""
    wanted = plain(quote)
    found = [
        sentence for block in _BLOCKS.split(text) for sentence in _around(wanted, plain(block))
    ]
    return found or [wanted]


def _around(wanted: str, block: str) -> Iterator[str]:
    at = block.find(wanted)
    if at < 0:
        return
    starts = [end.end() for end in _SENTENCE_END.finditer(block, 0, at + 1)]
    after = _SENTENCE_END.search(block, max(at, at + len(wanted) - 1))
    yield block[starts[-1] if starts else 0 : after.start() + 1 if after else len(block)].strip()
