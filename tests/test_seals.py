"""Seals: a small file tells whether it is what was written, whatever bit of it changed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.seals import is_sealed, sealed, unsealed

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=8,
)


def test_what_was_sealed_comes_back():
    assert unsealed(sealed({"b": [1, 2.5], "a": "ü"})) == {"b": [1, 2.5], "a": "ü"}


def test_keys_that_json_turns_into_text_still_fit_their_seal():
    values = {number: number for number in range(12)}

    assert unsealed(sealed(values)) == {str(number): number for number in range(12)}


def test_a_line_is_one_line():
    assert sealed({"a": "x\ny"}, indent=None).count(b"\n") == 0


@pytest.mark.parametrize("old", [{"build": "x"}, ["a", "b"], []])
def test_what_was_written_before_there_were_seals_is_read(old):
    text = json.dumps(old).encode()

    assert unsealed(text) == old
    assert not is_sealed(old)


@pytest.mark.parametrize("key", [b"seal", b"values"])
def test_a_file_with_a_damaged_key_does_not_pass_for_an_old_one(key):
    data = sealed({"build": "x"}).replace(b'"' + key, b'"S' + key[1:])

    with pytest.raises(ValueError, match="seal"):
        unsealed(data)


@given(VALUES, st.data())
def test_no_flipped_bit_ever_gives_other_values(values, data):
    whole = sealed(values, indent=data.draw(st.sampled_from([None, 1])))
    position = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[position] ^= 1 << data.draw(st.integers(0, 7))

    try:
        found = unsealed(bytes(changed))
    except ValueError:
        return
    assert json.dumps(found) == json.dumps(json.loads(json.dumps(values)))
