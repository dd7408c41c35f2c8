"""Ask when something happened: `PEP 8 moved to Final` -> `When did PEP 8 move to Final?` Pure.

The base form of a regular verb is looked up in the vault's own words; a verb whose base form is
not certain makes no question.
"""

import re

from eval_assets.suggestions.source import SourceVault
from eval_assets.suggestions.subjects import is_subject, small_start
from eval_assets.suggestions.wording import word_set

_IRREGULAR = dict(
    pair.split(":")
    for pair in sorted(
        word_set(
            "became:become began:begin bought:buy brought:bring built:build came:come chose:choose "
            "cut:cut drew:draw fell:fall found:find gave:give got:get grew:grow held:hold "
            "kept:keep led:lead left:leave lent:lend lost:lose made:make met:meet paid:pay ran:run "
            "rose:rise said:say sat:sit saw:see sent:send set:set sold:sell spoke:speak "
            "spent:spend took:take taught:teach told:tell went:go won:win wrote:write"
        )
    )
)
_STATEMENT = re.compile(
    r"(?P<subject>[A-Z][^,;:!?\"“”]{1,80}?)\s+(?P<verb>[a-z]{2,}(?:ed)|"
    + "|".join(_IRREGULAR)
    + r")"
    r"\s+(?P<rest>\w[^;:!?\"“”]{2,80}?)\.?$"
)
_PASSIVE = re.compile(
    r"(?P<subject>[A-Z][^,;:!?\"“”]{1,80}?)\s+(?P<aux>was|were)\s+(?P<rest>[^;:!?\"“”]{3,80}?)\.?$"
)
# What follows tells a statement (`signed the lease`) from a note without its verb (`signed by`).
_OBJECT = re.compile(r"(?:the|an?|our|its|\d[\d,.]*|two|three|four|five|all|no|more)\s|[A-Z]")
_MOVES = word_set(
    "entered moved changed arrived joined started resigned retired died agreed returned "
    "switched dropped reached became began came fell grew left met ran rose went won lost"
)
_ENDS_OPEN = re.compile(r"\b(?:with|of|for|to|in|by|and|or|on|at|from|remaining|not|be)$")
_POINTS = re.compile(
    r"\b(?:this|that|it|they|them|he|she|his|her|their|its|today|yesterday|now|here)\b", re.I
)
_DOUBLES = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]$")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_FEWEST = 2  # occurrences of a base form that is believed


def when_did(sentence: str, vault: SourceVault) -> str | None:
    """Return the question when the statement happened, or None where it is not sure."""
    if _POINTS.search(sentence) or re.search(r"\b(?:19|20)\d\d\b", sentence):
        return None
    found = _PASSIVE.match(sentence)
    if found and _is_subject(found["subject"], vault):
        subject = small_start(found["subject"], vault.is_common_word)
        return f"When {found['aux']} {subject} {found['rest']}?"
    found = _STATEMENT.match(sentence)
    base = _base(found["verb"], vault) if found and _is_active(found) else None
    if not found or not base or not _is_subject(found["subject"], vault):
        return None
    return f"When did {small_start(found['subject'], vault.is_common_word)} {base} {found['rest']}?"


def _is_active(found: re.Match[str]) -> bool:
    return found["verb"] in _MOVES or bool(_OBJECT.match(found["rest"]))


def _is_subject(subject: str, vault: SourceVault) -> bool:
    """What stands in brackets explains the subject; a log's line may begin with its verb."""
    first = subject.split()[0]
    is_article = first.lower() in ("the", "a", "an", "our")
    if _ENDS_OPEN.search(subject) or (not is_article and vault.is_common_word(first)):
        return False
    return is_subject(_BRACKETS.sub("", subject), may_have_number=True) and subject.count(
        "("
    ) == subject.count(")")


def _base(verb: str, vault: SourceVault) -> str | None:
    """Return a past form's base form, as the vault's words show it.

    >>> from eval_assets.suggestions.source import SourceVault
    >>> _base("sold", SourceVault(()))
    'sell'
    """
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    stem = verb[:-2]
    candidates = [stem + "e"]
    if not _DOUBLES.fullmatch(stem):  # a short one would have doubled its last letter
        candidates.append(stem)
    if len(stem) > 3 and stem[-1] == stem[-2]:
        candidates.append(stem[:-1])
    if stem.endswith("i"):
        candidates.append(stem[:-1] + "y")
    best = min(candidates, key=lambda base: (-vault.words[base], base))
    return best if vault.words[best] >= _FEWEST else None
