"""Bytes to text: every encoding a vault may hold, and nothing that stops the run."""

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_assets.notes.decoding import decode


@pytest.mark.parametrize(
    ("data", "text", "encoding", "codes"),
    [
        (b"", "", "utf-8", []),
        (b"plain\r\ntext\r", "plain\r\ntext\r", "utf-8", []),
        (codecs.BOM_UTF8 + b"---\na: b", "---\na: b", "utf-8", []),
        (codecs.BOM_UTF16_LE + "a中".encode("utf-16-le"), "a中", "utf-16-le", []),
        (codecs.BOM_UTF16_BE + "a中".encode("utf-16-be"), "a中", "utf-16-be", []),
        ("Plain text".encode("utf-16-le"), "Plain text", "utf-16-le", []),
        ("Plain text".encode("utf-16-be"), "Plain text", "utf-16-be", []),
        (codecs.BOM_UTF16_LE + b"a\x00b", "a\ufffd", "utf-16-le", ["encoding-bad-bytes"]),
        (b"\xd6sterreich", "Österreich", "windows-1252", ["encoding-windows-1252"]),
        (b"a\x00b", "a\ufffdb", "utf-8", ["nul-bytes"]),
        ("合約轉換".encode() + b"\xff", "合約轉換\ufffd", "utf-8", ["encoding-bad-bytes"]),
        (
            b"\x81\xd6",
            "\ufffdÖ",
            "windows-1252",
            ["encoding-windows-1252", "encoding-bad-bytes"],
        ),
    ],
)
def test_a_note_is_decoded_whatever_wrote_it(data, text, encoding, codes):
    decoded = decode(data)

    assert (decoded.text, decoded.encoding) == (text, encoding)
    assert [finding.code for finding in decoded.findings] == codes


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_text_that_a_table_can_hold(data):
    text = decode(data).text

    assert "\0" not in text
    assert text.encode().decode() == text


@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"])))
def test_utf8_comes_back_unchanged(text):
    assert decode(text.encode()).text == text
    assert decode(codecs.BOM_UTF8 + text.encode()).text == text
