"""Mix hostile notes from the sets: names, front matter, bodies and bytes. Seeded: repeatable."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.hostile_sets import Sets

MEGABYTE = 1_000_000
_FOLDERS = 16
_HARD_FOLDERS = (
    b"\xff\xfe folder", "e\u0301".encode(), "\u00e9".encode(), b"A", b"a", b"a/b/c", b"a\nb",
    b"\x1b[31mred", "\u202egnp".encode(), b"/".join([b"deep"] * 60),
)  # fmt: skip
_LARGE = 5 * MEGABYTE
_TOO_LARGE = 50 * MEGABYTE
_RECIPE_SHARE = 0.04  # of the notes
_WHOLE_RECIPE_SHARE = 0.25  # of those: the others are cut to a tenth of a megabyte
_LONGEST_NAME = 255  # bytes


@dataclass(frozen=True)
class HostileNote:
    """One file: its folders and name as bytes, what it is made of, and its content."""

    path: bytes
    what: str
    content: bytes


class Mixer:
    """Mixes notes; the same sets and seed give the same vault."""

    def __init__(self, sets: Sets, seed: int) -> None:
        self._sets = sets
        self._rng = random.Random(seed)
        self._taken: set[bytes] = set()
        self._folders = [b"", *self._hostile_folders()]

    def notes(self, number: int) -> Iterator[HostileNote]:
        """Yield so many notes: first the large ones and every recipe whole, then mixtures."""
        made = 0
        for what, content in (*self._large(), *self._recipes()):
            if made == number:
                return
            yield self._note(what, content)
            made += 1
        for _ in range(number - made):
            what, text = self._mixture()
            yield self._note(what, self._bytes(text))

    def _note(self, what: str, content: bytes) -> HostileNote:
        folder = self._rng.choice(self._folders)
        name = self._name()
        number = 0
        while (path := b"/".join(filter(None, (folder, name)))) in self._taken:
            number += 1
            name = f"{number} ".encode() + self._name()
        self._taken.add(path)
        return HostileNote(path, what, content)

    def _large(self) -> Iterator[tuple[str, bytes]]:
        yield "50 MB", b"lorem ipsum dolor sit amet " * (_TOO_LARGE // 27)
        words = " ".join(f"{self._rng.randrange(16**8):08x}" for _ in range(20_000))
        units = (
            *(
                "lorem ipsum dolor ",
                "a",
                "[",
                "![[",
                "\\",
                "# a\n",
                "- a\n",
                "a\n\n",
                "A. ",
                "| a ",
            ),
            *("\u4e2d\u6587\u3002", "a:: b\n", "<b>", "%%", "> ", "\x00", "\t", "\u200b", words),
        )
        for unit in units:
            yield (
                f"5 MB of {unit[:8]!a}",
                (unit * (_LARGE // len(unit.encode()) + 1)).encode()[:_LARGE],
            )
        yield "5 MB of noise", self._rng.randbytes(_LARGE)
        new = " ".join(f"{self._rng.randrange(16**8):08x}" for _ in range(_LARGE // 9))
        yield "5 MB of new words", new.encode()
        han = (chr(self._rng.randrange(0x4E00, 0x9FFF)) for _ in range(_LARGE // 3))
        yield "5 MB of new characters", "".join(han).encode()

    def _recipes(self) -> Iterator[tuple[str, bytes]]:
        for recipe in self._sets.recipes:
            content = recipe.text().encode("utf-8", "surrogatepass")
            if len(content) < _TOO_LARGE:
                yield f"recipe {recipe.name}", content

    def _mixture(self) -> tuple[str, str]:
        rng, sets = self._rng, self._sets
        if rng.random() < _RECIPE_SHARE:
            recipe = rng.choice(sets.recipes)
            most = None if rng.random() < _WHOLE_RECIPE_SHARE else MEGABYTE // 10
            text = recipe.text(most or 2 * MEGABYTE)
            return f"mixed {recipe.name}", f"{self._front_matter()}{text}"
        parts = [self._part() for _ in range(rng.randrange(1, 6))]
        return "mixture", self._front_matter() + "\n\n".join(parts)

    def _part(self) -> str:
        rng, sets = self._rng, self._sets
        path = rng.choice(sets.paths)
        kinds = (
            lambda: rng.choice(sets.markdown),
            lambda: rng.choice(sets.strings),
            lambda: rng.choice(sets.orders),
            lambda: f"[{rng.choice(sets.strings)}]({path}) ![[{path}]] [[{path}|x]] ![y]({path})",
            lambda: (
                f"# {rng.choice(sets.strings)}\n\n## 2024-0{rng.randrange(10)}-1{rng.randrange(10)}"
            ),
            lambda: f"{rng.choice(sets.look_alikes)}:: {rng.choice(sets.strings)}",
            lambda: "plain words about the harbour, the ferry and the price of 12 euros.",
            lambda: rng.choice(sets.recipes).text(400),
            lambda: "\n".join(
                f"**{who}:** {rng.choice(sets.strings)}\n" for who in ("User", "AI") * 3
            ),
        )
        return rng.choice(kinds)()

    def _front_matter(self) -> str:
        rng, sets = self._rng, self._sets
        text = rng.choice(sets.strings)
        kinds = (
            lambda: "",
            lambda: "",
            lambda: f"---\n{rng.choice(sets.yaml)}\n---\n",
            lambda: f"---\n{rng.choice(sets.yaml)}",
            lambda: f"---\ntitle: {text}\naliases: [{text}, {text}x]\ndate: {text}\n---\n",
            lambda: (
                f"---\nkind: {rng.choice(['card', 'chat', 'wiki', text])}\nprivate: {text}\n---\n"
            ),
            lambda: (
                f"---\ntenant: {text}\nreaders: {text}\nup: '[[{rng.choice(sets.paths)}]]'\n---\n"
            ),
            lambda: f"\ufeff---\r\ntags: [{text}]\r\n...\r\n",
        )
        return rng.choice(kinds)()

    def _bytes(self, text: str) -> bytes:
        rng = self._rng
        plain = text.encode("utf-8", "surrogatepass")  # half a surrogate pair stays, as bytes
        at = rng.randrange(len(plain) + 1)
        kinds = (
            *(lambda: plain,) * 6,
            lambda: b"\xef\xbb\xbf" + plain,
            lambda: text.encode("utf-16", "surrogatepass"),
            lambda: text.encode("utf-16-le", "surrogatepass"),
            lambda: text.encode("utf-32", "surrogatepass"),
            lambda: text.encode("cp1252", "replace"),
            lambda: plain[:at] + rng.randbytes(3) + plain[at:],
            lambda: plain[:at] + b"\x00" * 4 + plain[at:],
            lambda: plain[:at],
        )
        return rng.choice(kinds)()

    def _name(self) -> bytes:
        rng, sets = self._rng, self._sets
        name = rng.choice((sets.names, sets.strings, sets.look_alikes, sets.paths))
        raw = _file_name(rng.choice(name))
        if rng.random() < 0.05:
            raw = rng.randbytes(6).replace(b"/", b"_").replace(b"\0", b"_") + raw
        ending = rng.choice((b".md", b".md", b".md", b".markdown", b".MD"))
        return raw[: _LONGEST_NAME - 40].lstrip(b".") + ending

    def _hostile_folders(self) -> list[bytes]:
        names = [_file_name(name)[:100].strip(b".") for name in self._sets.names]
        usable = sorted({name for name in names if name.strip() and not name.endswith(b".md")})
        self._rng.shuffle(usable)
        return [*_HARD_FOLDERS, *usable[:_FOLDERS]]


def _file_name(text: str) -> bytes:
    """Return a text as bytes that a file system takes for one name."""
    raw = text.encode("utf-8", "surrogateescape" if text.isprintable() else "surrogatepass")
    return raw.replace(b"/", b"_").replace(b"\0", b"_")
