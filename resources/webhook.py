"""Tell an address of the user's about something, as JSON. Never fails, never follows elsewhere.

What could not be sent is said in one word for the log: an address is a secret, and so may be what
a server answers.
"""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

TIMEOUT_SECONDS = 5.0


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A message goes where the user said, or nowhere."""

    def redirect_request(self, *_given: Any, **_more: Any) -> None:
        return None


def post(address: str, message: Mapping[str, str], timeout: float = TIMEOUT_SECONDS) -> str:
    """Send a message; return empty text, or what went wrong."""
    request = urllib.request.Request(  # noqa: S310 - the settings take https and loopback alone
        address,
        data=json.dumps(message, ensure_ascii=False).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "vault-knowledge-base"},
        method="POST",
    )
    # What is meant for this machine must not go through a proxy of the environment.
    local = [urllib.request.ProxyHandler({})] if address.startswith("http:") else []
    opener = urllib.request.build_opener(_NoRedirect, *local)
    try:
        with opener.open(request, timeout=timeout) as answer:
            return "" if 200 <= answer.status < 300 else f"status {answer.status}"
    except urllib.error.HTTPError as problem:
        return f"status {problem.code}"
    except urllib.error.URLError as problem:
        return type(problem.reason).__name__
    except (OSError, http.client.HTTPException, ValueError) as problem:
        return type(problem).__name__
