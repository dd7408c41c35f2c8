"""What a language model's tokens cost. Pure: exact whole numbers of nano-dollars, no floats.

A dollar is 1,000,000,000 nano-dollars, so that a token of a tenth of a dollar a million is 100 of
them. Requests are priced one by one: a long prompt has a price of its own, which a sum would hide.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import resources

from kb_core.errors import SettingsError
from kb_core.settings import PriceSettings
from kb_core.tokens import RegexTokenCounter

DOLLAR = 1_000_000_000  # nano-dollars
_MILLION = 1_000_000
# A model's own tokens for one of the rule's: covers English, Chinese and notes full of figures
# (measured against an exact counter: .59 to .79 of them, so 1 / .59).
_MODEL_TOKENS = 1.7
_RULE = RegexTokenCounter()


@dataclass(frozen=True)
class Tokens:
    """What a request is billed for."""

    input: int
    output: int
    cache_write: int = 0
    cache_read: int = 0

    @property
    def prompt(self) -> int:
        """Return all that was sent."""
        return self.input + self.cache_write + self.cache_read


@dataclass(frozen=True)
class Price:
    """The price list of one model; see PriceSettings."""

    model: str
    listed: PriceSettings

    def cost(self, tokens: Tokens, *, is_batch: bool = False) -> int:
        """Return what one request costs in nano-dollars, a broken one counting as whole."""
        price = self.listed
        write = price.input if price.cache_write is None else price.cache_write
        read = price.input if price.cache_read is None else price.cache_read
        total = (
            tokens.input * _nano(price.input)
            + tokens.output * _nano(price.output)
            + tokens.cache_write * _nano(write)
            + tokens.cache_read * _nano(read)
        )
        if price.long_prompt_tokens and tokens.prompt > price.long_prompt_tokens:
            total *= _exact(price.long_prompt_factor)
        if is_batch:
            total *= _exact(price.batch_share)
        return math.ceil(total)


def price_of(model: str, own: Mapping[str, PriceSettings]) -> Price:
    """Return a model's price: the settings' own, else the list's.

    Raises SettingsError for a model that neither knows: what it costs must be known before.
    """
    listed = own.get(model) or _list().get(model)
    if listed is None:
        raise SettingsError(
            f"llm.model = {model!r}: nobody knows what it costs. Known are "
            f"{', '.join(sorted({*own, *_list()}))}. Add it to kb.toml:\n"
            f'[prices."{model}"]\ninput = ...   # US dollars per million tokens\noutput = ...'
        )
    return Price(model, listed)


def model_tokens(text: str) -> int:
    """Estimate how many tokens a language model makes of a text, rather too many than too few.

    Counting by the provider would send the text before anybody agreed to that.
    """
    return math.ceil(_RULE.count(text) * _MODEL_TOKENS)


def nano(usd: float) -> int:
    """Return dollars as nano-dollars.

    >>> nano(0.5)
    500000000
    """
    return round(Fraction(str(usd)) * DOLLAR)


def dollars(amount: int) -> str:
    """Say an amount: cents from a dollar on, more digits below.

    >>> dollars(1_500_000_000), dollars(420_000_000), dollars(1_234_000), dollars(0)
    ('$1.50', '$0.42', '$0.001234', '$0')
    """
    if amount == 0:
        return "$0"
    cents = Fraction(amount, DOLLAR // 100)
    if abs(amount) >= DOLLAR or cents.denominator == 1:
        return f"${float(Fraction(amount, DOLLAR)):,.2f}"
    return f"${float(Fraction(amount, DOLLAR)):.6f}".rstrip("0")


def _nano(usd_per_million: float) -> Fraction:
    return _exact(usd_per_million) * DOLLAR / _MILLION


def _exact(number: float) -> Fraction:
    """Read a decimal number as it was written: .1 is a tenth."""
    return Fraction(str(number))


@lru_cache(maxsize=1)
def _list() -> Mapping[str, PriceSettings]:
    data = (resources.files("kb_core.defaults") / "prices.toml").read_text("utf-8")
    return {name: PriceSettings(**values) for name, values in tomllib.loads(data).items()}
