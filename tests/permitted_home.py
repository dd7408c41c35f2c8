"""A small home whose kb.toml closes more after the build, and its notes as somebody finds them."""

from pathlib import Path

from kb_core.settings import Settings, read_settings
from kb_search.engine import Engine
from kb_search.policy import Policy, Principal
from kb_search.results import SearchResult
from resources.builds import Builds
from resources.home import Home
from tests.built_home import build, open_home
from tests.small_vault import put

RULES = """
[principals.reader]
tenants = ["main"]
[egress]
allow = ["Work", "Own"]
[embedder]
engine = "none"
"""
NOTES = {
    "Work/Kiln.md": "The kiln is hot.\n",
    "Work/Plan.md": "The kiln will be sold.\n",
    "Own/Mine.md": "---\ntenant: main\nreaders: [reader, marit]\n---\nMy kiln.\n",
    "Own/Field.md": "A kiln.\n\ntenant:: main\nreaders:: reader\n",
    "Else/Note.md": "Another kiln.\n",
}
CLOSED = """
[[folders]]
path = "Work"
tenant = "glass"
[[folders]]
path = "Own"
tenant = "glass"
readers = ["anna"]
"""
READER = Policy(Principal("reader", frozenset({"main"}), frozenset({"reader"})))
HERE = Policy()


def made(root: Path, notes: dict[str, str] | None = None, rules: str = RULES) -> Home:
    """Build a home over some notes."""
    for path, text in (notes or NOTES).items():
        put(root / "vault", path, text)
    home = open_home(root / "home", root / "vault", rules)
    Builds(home.data).point_to(build(home, with_vectors=False))
    return home


def rewritten(home: Home, root: Path, more: str = "", without: str = "") -> Settings:
    """Return a home's settings with something added to its kb.toml, or taken away."""
    root.mkdir(parents=True, exist_ok=True)
    text = (home.root / "kb.toml").read_text().replace(without, "") + more
    (root / "kb.toml").write_text(text)
    return read_settings(root)


def search(
    home: Home, policy: Policy, settings: Settings | None = None, service: object = None
) -> SearchResult:
    """Search by words, with other settings or a permission service."""
    engine = Engine.open(home.root, settings or home.settings)
    engine._service = service  # type: ignore[assignment]
    return engine.search("kiln", variant="keyword", policy=policy)


def found(
    home: Home, policy: Policy, settings: Settings | None = None, service: object = None
) -> set[str]:
    """Return the notes found."""
    return {each.note for each in search(home, policy, settings, service).results}
