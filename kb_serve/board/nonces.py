"""Seals on the forms by which money is allowed: only what this page showed can be sent back.

Pure but for a secret that is made with the object and never leaves it: a page that is started
anew takes no form of the one before. A seal holds for one plan, one ceiling and one decision.
"""

import hmac
import re
import secrets

HOLDS_SECONDS = 3600

_SEAL = re.compile(r"([0-9]{1,12})-([0-9a-f]{64})")


class Nonces:
    """The seals of one running page."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def seal(self, plan: str, ceiling: str, decision: str, now: float) -> str:
        """Return the seal of a form that is shown now."""
        until = f"{int(now) + HOLDS_SECONDS}"
        return f"{until}-{self._mark(plan, ceiling, decision, until)}"

    def why_not(self, seal: str, plan: str, ceiling: str, decision: str, now: float) -> str:
        """Say why a form that came back does not count; empty if it does."""
        parts = _SEAL.fullmatch(seal)
        if not parts:
            return "The form is not one of this page."
        mark = self._mark(plan, ceiling, decision, parts[1])
        if not hmac.compare_digest(mark, parts[2]):
            return "The form is not one that this page showed for this plan and these dollars."
        if now > int(parts[1]):
            return "The form is more than an hour old."
        return ""

    def _mark(self, *parts: str) -> str:
        # Each part is led by its length: no two lists of parts look the same.
        told = "".join(f"{len(part)}:{part}" for part in parts)
        return hmac.new(self._secret, told.encode("utf-8", "replace"), "sha256").hexdigest()
