"""Ports of this machine."""

import socket


def is_free(port: int) -> bool:
    """Tell whether nothing listens on this port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) != 0
