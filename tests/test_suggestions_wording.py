"""Markup, sentences and the parts that notes are cut into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.suggestions.parts import cut_into_parts
from eval_assets.suggestions.wording import plain, sentences

BODY = """# Pier plan

Opening line
goes on here.

## Costs

- **Budget:** 4,000
- see
  below

| part | price |
|------|------:|
| wood | £310 |
| rope | £95 |

```
## not a heading
```

> quoted words

Old way
-------

Last words::

  literal text
  more of it

After it.
"""


def test_a_body_is_cut_into_headings_paragraphs_items_and_tables():
    parts, tables = cut_into_parts(BODY, "Pier plan")
    assert [(part.kind, part.text, part.trail) for part in parts] == [
        ("paragraph", "Opening line goes on here.", ()),
        ("heading", "Costs", ()),
        ("item", "**Budget:** 4,000", ("Costs",)),
        ("item", "see below", ("Costs",)),
        ("heading", "Old way", ()),
        ("paragraph", "Last words::", ("Old way",)),
        ("paragraph", "After it.", ("Old way",)),
    ]
    assert tables[0].columns == ("part", "price")
    assert tables[0].rows == (("wood", "£310"), ("rope", "£95"))
    assert tables[0].trail == ("Costs",)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Ask** _her_ about `kb`", "Ask her about kb"),
        ("[[People/Ana#Work]] and [[Bo|Robert]]", "Ana and Robert"),
        ("see [the plan](plan.md) and ![x](y.png)", "see the plan and"),
        (":pep:`572` and ``a_b`` and `site <https://a.example>`_", "572 and a_b and site"),
        ("snake_case stays, 2 * 3 * 4 too", "snake_case stays, 2 * 3 * 4 too"),
        ("``<x>`` is code, <b>this</b> is not", "<x> is code, this is not"),
    ],
)
def test_plain_text_is_what_a_reader_sees(text, shown):
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("It cost £4.50 in May. Then more.", ["It cost £4.50 in May.", "Then more."]),
        ("Ask Dr. Lind, e.g. Tuesday. Fine!", ["Ask Dr. Lind, e.g. Tuesday.", "Fine!"]),
        ("交期是38天。最小订货量是300套。", ["交期是38天。", "最小订货量是300套。"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, cut):
    assert list(sentences(text)) == cut


@given(st.text(alphabet="aB .!?。\n#-|*`[]():=0", max_size=200))
def test_cutting_never_fails_and_every_part_is_words_of_the_body(body):
    parts, _ = cut_into_parts(body, "title")
    folded = "".join(body.split())
    for part in parts:
        if part.kind != "heading":
            assert "".join(part.text.split()) in folded


@given(st.text(alphabet="aB .!?。", max_size=120))
def test_sentences_lose_no_letter(text):
    folded = " ".join(text.split())
    assert "".join("".join(sentences(folded)).split()) == "".join(folded.split())
