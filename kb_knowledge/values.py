"""When do two values say the same? Numbers, money, units and dates are read. Pure.

`£52,800`, `52.8k GBP` and `GBP 52800` are one value; so are `100+`, `over 100` and `at least 100`,
but another than `100`. What cannot be read as one thing is compared as text.
"""

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache

from kb_core.dates import parse_date
from kb_core.names import name_key

_LONGEST_NUMBER = 60  # characters; a longer value is a sentence

_LINK = re.compile(r"!?\[\[([^\[\]|]{1,400})(?:\|[^\[\]|]{0,400})?\]\]")
_CURRENCIES = {
    "£": "gbp", "€": "eur", "$": "usd", "¥": "jpy", "₹": "inr", "₩": "krw", "us$": "usd",
    "pounds": "gbp", "euro": "eur", "euros": "eur", "dollars": "usd", "yen": "jpy", "元": "cny",
    "円": "jpy", "rmb": "cny",
    **{code: code for code in ("gbp", "eur", "usd", "jpy", "inr", "krw", "cny", "chf", "cad", "aud",
                               "sek", "nok", "dkk", "pln", "czk", "nzd", "hkd", "sgd", "mxn",
                               "brl", "zar", "try")},
}  # fmt: skip
_SCALES = {"k": 3, "thousand": 3, "million": 6, "millions": 6, "mio": 6, "billion": 9, "bn": 9,
           "mrd": 9, "千": 3, "万": 4, "萬": 4, "億": 8, "亿": 8}  # fmt: skip
_MONEY_SCALES = {**_SCALES, "m": 6, "mm": 6, "b": 9}  # elsewhere `m` is a metre
# Unit -> what it is counted in, and how many of that.
_UNITS = {
    word: (base, Decimal(factor))
    for base, factor, words in (
        ("g", "0.001", "mg milligram milligrams"),
        ("g", "1", "g gram grams gramm"),
        ("g", "1000", "kg kilo kilos kilogram kilograms kilogramm"),
        ("g", "1000000", "t tonne tonnes"),
        ("m", "0.001", "mm millimetre millimetres millimeter millimeters"),
        ("m", "0.01", "cm centimetre centimetres centimeter centimeters"),
        ("m", "1", "m metre metres meter meters"),
        ("m", "1000", "km kilometre kilometres kilometer kilometers"),
        ("l", "0.001", "ml millilitre millilitres milliliter milliliters"),
        ("l", "1", "l litre litres liter liters"),
        ("w", "1", "w watt watts"),
        ("w", "1000", "kw kilowatt kilowatts"),
        ("wh", "1", "wh"),
        ("wh", "1000", "kwh"),
        ("s", "1", "s sec secs second seconds sekunde sekunden"),
        ("s", "60", "min mins minute minutes minuten"),
        ("s", "3600", "h hr hrs hour hours stunde stunden"),
        ("day", "1", "day days tag tage 天 日"),
        ("day", "7", "week weeks woche wochen"),
        ("month", "1", "month months monat monate 个月"),
        ("month", "12", "year years yr yrs jahr jahre"),
        ("%", "1", "% percent prozent"),
        ("°c", "1", "°c celsius"),
        ("v", "1", "v volt volts"),
        ("a", "1", "a amp amps ampere amperes"),
    )
    for word in words.split()
}
_AT_LEAST = re.compile(r"(?:over|more than|at least|mindestens|mehr als|über|>=|≥|>)\s?")
_OR_MORE = re.compile(r"\s?(?:\+|or more|plus|以上)")
_ABOUT = re.compile(r"(?:about|approx\.?|approximately|around|circa|ca\.?|etwa|rund|约|~)\s?")
_NUMBER = re.compile(
    r"(?P<before>[^\d\s.,+-]{0,12}?)\s?(?P<sign>[-−]?)\s?(?P<number>\d[\d.,'’ ]*)\s?"
    r"(?P<after>[^\d]{0,24}?)"
)
_GROUPED = re.compile(r"\d{1,3}(?P<sep>[,.'’ ])\d{3}(?:(?P=sep)\d{3})*")
_TRUTHS = {"true": "yes", "false": "no"}
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)|\d{8}")  # every date has one: reading dates is dear
_EDGES = " \t\"'“”‘’«»„"
_TRAILING = ".;,"


@lru_cache(maxsize=65536)
def value_key(text: str) -> str:
    """Fold a value into what is compared.

    >>> value_key("£52,800") == value_key("52.8k GBP"), value_key("14 March 2024")
    (True, '2024-03-14')
    """
    plain = _LINK.sub(_last_part, text) if "[[" in text else text
    whole = plain if plain.isascii() else unicodedata.normalize("NFKC", plain)
    folded = " ".join(whole.lower().split()).strip(_EDGES).rstrip(_TRAILING)
    if len(folded) > _LONGEST_NUMBER or not _DIGIT.search(folded):
        return _TRUTHS.get(folded, folded) or name_key(text)
    date = parse_date(folded) if _YEAR.search(folded) else None
    return date or _quantity(folded) or folded


def _last_part(link: re.Match[str]) -> str:
    return link[1].partition("#")[0].rpartition("/")[2]


def _quantity(folded: str) -> str | None:
    """Read a number with what it counts; None if the text is anything else."""
    bound, rest = _without(_AT_LEAST, folded)
    about, rest = _without(_ABOUT, rest)
    found = _NUMBER.fullmatch(rest)
    if not found:
        return None
    is_more, after = _without(_OR_MORE, found["after"].strip())
    number = _decimal(found["number"].strip())
    unit = _unit(found["before"].strip(), after.strip()) if number is not None else None
    if number is None or unit is None:
        return None
    counted, factor = unit
    value = (-number if found["sign"] else number) * factor
    # A bare 3.10 may be a version, and no 3.1.
    written = _plain(value) if counted else f"{value:f}"
    sign = (">=" if bound or is_more else "") + ("~" if about else "")
    return f"{sign}{written} {counted}".strip()


def _without(mark: re.Pattern[str], text: str) -> tuple[bool, str]:
    found = mark.match(text)
    return (True, text[found.end() :]) if found else (False, text)


def _decimal(written: str) -> Decimal | None:
    """Read a number whichever sign its thousands have. `1,234` is grouped, `1.234` is not."""
    whole, fraction = written, ""
    last = max(written.rfind("."), written.rfind(","))
    if last >= 0 and not _is_grouped(written):
        whole, fraction = written[:last], written[last + 1 :]
        if whole.count(written[last]):  # 1.2.3 is a version
            return None
    if not (whole.isdigit() or _GROUPED.fullmatch(whole)) or not (fraction or "0").isdigit():
        return None
    digits = "".join(each for each in whole if each.isdigit())
    return Decimal(f"{digits}.{fraction}" if fraction else digits)


def _is_grouped(written: str) -> bool:
    found = _GROUPED.fullmatch(written)
    return bool(found) and (found["sep"] != "." or written.count(".") > 1)  # type: ignore[index]


def _unit(before: str, after: str) -> tuple[str, Decimal] | None:
    """Return what is counted and the factor; None for words that are no unit."""
    words = after.split()
    scale = Decimal(1)
    currency = _CURRENCIES.get(before)
    if before and not currency:
        return None
    money = currency or next((_CURRENCIES[each] for each in words if each in _CURRENCIES), None)
    scales = _MONEY_SCALES if money else _SCALES
    if words and words[0] in scales:
        scale = Decimal(10) ** scales[words.pop(0)]
    if money:
        rest = [each for each in words if _CURRENCIES.get(each) != money]
        return (money, scale) if not rest else (f"{money} {' '.join(rest)}", scale)
    base, factor = _UNITS.get(words[0], (words[0], Decimal(1))) if words else ("", Decimal(1))
    return " ".join([base, *words[1:]]).strip(), scale * factor


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
