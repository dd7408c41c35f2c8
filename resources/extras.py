"""The command that installs an optional part into the very Python that runs."""

import sys


def install_command(extra: str) -> str:
    """Return the exact command; the project itself is installed already, so only the rest is."""
    return f"{sys.executable} -m pip install 'vault-knowledge-base[{extra}]'"
