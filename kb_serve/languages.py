"""Guess a note's language from its script and its most common small words. Pure, modest."""

import re
from collections import Counter

_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),  # kana: before Chinese, which it contains
    ("Chinese", re.compile(r"[\u4e00-\u9fff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
    ("Russian or another in Cyrillic", re.compile(r"[\u0400-\u04ff]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("Greek", re.compile(r"[\u0370-\u03ff]")),
)
_SMALL_WORDS = {
    "English": "the and of to is that for with was this are not be have",
    "German": "der die und das ist nicht mit ein für auf den wir von zu",
    "Spanish": "el la que de los las por para con una es del se no",
    "French": "le les et des est une que pour dans pas sur nous du",
    "Italian": "il di che per una con sono non del della gli nel",
    "Portuguese": "o que os não uma para com por da do em foi",
    "Dutch": "het een van en dat niet op voor met zijn wij aan",
}
_LONGEST = 5_000  # characters that are looked at
_SHARE = 0.15  # of the letters, for a script to decide


def language_of(text: str) -> str:
    """Return a language's English name, or `unclear`."""
    text = text[:_LONGEST]
    letters = sum(char.isalpha() for char in text)
    for name, pattern in _SCRIPTS:
        # Few kana mark a text as Japanese: most of its letters are shared with Chinese.
        share = _SHARE / 3 if name == "Japanese" else _SHARE
        if letters and len(pattern.findall(text)) > share * letters:
            return name
    words = Counter(_WORD.findall(text.lower()))
    scores = {
        name: sum(words[word] for word in small.split()) for name, small in _SMALL_WORDS.items()
    }
    best = max(scores, key=lambda name: (scores[name], name))
    return best if scores[best] >= 3 else "unclear"
