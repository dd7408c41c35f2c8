"""Homes over one small vault with questions, built with and without vectors, not scored yet."""

import shutil
from pathlib import Path

from resources.home import Home
from tests.built_home import build, open_home
from tests.eval_vault import make_eval_vault, write_questions
from tests.standins.ollama_server import OllamaStandIn

NO_VECTORS = '[embedder]\nengine = "none"\n'


def by_ollama(server: OllamaStandIn, model: str = "bge-m3") -> str:
    """Return the settings of a home whose vectors a server makes."""
    return f'[embedder]\nengine = "ollama"\nmodel = "{model}"\nurl = "{server.url}"\n'


def make_homes(root: Path, **settings: str) -> Path:
    """Build a home of each name over `root/vault`."""
    vault = make_eval_vault(root / "vault")
    for name, text in settings.items():
        home = open_home(root / name, vault, text)
        write_questions(home.root)
        build(home)
    return root


def copy_home(root: Path, name: str, to: Path, settings: str) -> Home:
    """Return a copy of one home and its vault, to be changed."""
    shutil.copytree(root / "vault", to / "vault")
    shutil.copytree(root / name, to / "home")
    return open_home(to / "home", to / "vault", settings)
