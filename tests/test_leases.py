"""Leases: one writer at a time, and a dead one never blocks the next."""

import subprocess
import sys
import threading
import time

import pytest

from kb_core.errors import BusyError, StoreError
from resources.leases import Leases


def test_a_second_writer_waits_and_then_says_who_has_it(tmp_path):
    path = tmp_path / "leases.sqlite"

    with (
        Leases(path).hold("chunks/a"),
        pytest.raises(BusyError, match=r"chunks/a is being written by process \d+"),
        Leases(path).hold("chunks/a", wait_seconds=0.3),
    ):
        pass


def test_a_lease_is_free_after_use_and_others_are_never_blocked(tmp_path):
    leases = Leases(tmp_path / "leases.sqlite")

    with leases.hold("chunks/a"), leases.hold("chunks/b", wait_seconds=0):
        pass
    with leases.hold("chunks/a", wait_seconds=0):
        pass


def test_an_expired_lease_is_taken_over(tmp_path):
    path = tmp_path / "leases.sqlite"
    now = [1000.0]
    holder = Leases(path, clock=lambda: now[0])

    with holder.hold("x"):
        now[0] += 61
        with Leases(path, clock=lambda: now[0]).hold("x", wait_seconds=0):
            pass


def test_the_lease_of_a_killed_process_is_taken_over_at_once(tmp_path):
    path = tmp_path / "leases.sqlite"
    script = (
        "import os, signal, sys; from pathlib import Path; from resources.leases import Leases\n"
        "with Leases(Path(sys.argv[1])).hold('x'):\n    os.kill(os.getpid(), signal.SIGKILL)"
    )

    subprocess.run([sys.executable, "-c", script, str(path)], check=False)

    with Leases(path).hold("x", wait_seconds=0):
        pass


def test_a_lease_this_process_could_not_give_back_is_no_lease(tmp_path, monkeypatch):
    path = tmp_path / "leases.sqlite"

    def no_disk(*_):
        raise OSError("no space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("resources.leases.Leases._release", no_disk)
        with pytest.raises(OSError, match="no space"), Leases(path).hold("x"):
            pass

    with Leases(path).hold("x", wait_seconds=0):
        pass


def test_two_threads_of_one_process_never_hold_one_lease(tmp_path):
    leases = Leases(tmp_path / "leases.sqlite")
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(5):
            with leases.hold("x"):
                inside += 1
                most = max(most, inside)
                time.sleep(0.001)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == 1


def test_a_damaged_file_says_what_to_do(tmp_path):
    path = tmp_path / "leases.sqlite"
    path.write_bytes(b"no database at all" * 100)

    with pytest.raises(StoreError, match="Delete it"), Leases(path).hold("x", wait_seconds=0):
        pass
