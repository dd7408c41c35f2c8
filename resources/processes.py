"""Name a process so that others can tell whether it is still there. Reads only."""

import os
import secrets
import socket


def this_process() -> str:
    """Return `host:pid:random`: the random part tells apart two with one number."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def is_gone(name: str) -> bool:
    """Tell whether a process ran on this machine and is gone. Unknown machines: not gone.

    A name without a number names no process that could be there.
    """
    host, _, rest = name.partition(":")
    number = rest.partition(":")[0]
    if not number.isdecimal():
        return True
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False
