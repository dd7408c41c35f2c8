"""Permission services of every temper, as kb.toml would name them."""

import time


class Service:
    """Refuses some notes or chunks, and says what it was asked."""

    def __init__(self, refused=(), hanging=(), failing=(), answer=True):
        self.refused, self.hanging, self.failing = refused, hanging, failing
        self.answer = answer
        self.asked = []

    def may_hand_over(self, principal, note_id, chunk_id):
        self.asked.append((principal, note_id, chunk_id))
        if note_id in self.hanging:
            time.sleep(30)
        if note_id in self.failing:
            raise OSError(note_id)
        return False if {note_id, chunk_id} & set(self.refused) else self.answer


class Nothing:
    """Has no method to ask."""


def refusing_plan():
    """Refuse one note of the tests' vault."""
    return Service(refused=("Work/Plan.md",))


def broken():
    """Fail to open."""
    raise ConnectionError("secret")
