"""Open the token counter a home was cut with.

`xlm-r` counts by the embedded model's own vocabulary and needs its weight file; `regex` is a rule
that needs nothing. A home chooses once: another counter would cut every note elsewhere.
"""

from kb_core.errors import EmbedderError, EmbedderMissingError
from kb_core.tokens import RegexTokenCounter, TokenCounter
from resources.e5.loaded import load_tokenizer
from resources.e5.token_counter import XlmrTokenCounter


def open_token_counter(name: str) -> TokenCounter:
    """Open a counter: `xlm-r`, `regex`, or `auto` for the better one that can be had.

    Raises EmbedderError when `xlm-r` is asked for by name and its weight file is missing or
    damaged, EmbedderMissingError for a counter that does not exist.
    """
    if name == "auto":
        name = "xlm-r" if has_xlmr() else "regex"
    if name == "xlm-r":
        return XlmrTokenCounter(load_tokenizer())
    if name == "regex":
        return RegexTokenCounter()
    raise EmbedderMissingError(
        f"No token counter is called {name!r}: choose auto, xlm-r or regex under [chunks]."
    )


def has_xlmr() -> bool:
    """Tell whether the embedded model's vocabulary can be read here."""
    try:
        load_tokenizer()
    except EmbedderError:
        return False
    return True
