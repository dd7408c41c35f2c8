"""Tables of scores, held against rows worked out by hand."""

from dataclasses import replace

import pytest

from eval_assets.plots import check_ending, draw
from eval_assets.report import (
    Table,
    category_table,
    headline,
    language_table,
    moved,
    moved_table,
    percentile,
    sign_table,
    tables,
    variant_table,
)
from eval_assets.scoring import Row, Scores
from eval_assets.sweeps import DEFAULTS, Sweep
from eval_assets.variants import parse
from kb_core.errors import SettingsError
from kb_search.hybrid import DEFAULT_TUNING


def row(name: str, ndcg: float | None = 1.0, **changed: object) -> Row:
    measures = {} if ndcg is None else {"mrr": ndcg, "ndcg@10": ndcg, "recall@10": ndcg}
    values = {
        "id": name,
        "set": "own",
        "key": f"key of {name}",
        "category": "single_fact",
        "language": "en",
        "ranking": ("a.md", "b.md"),
        "measures": measures,
        "ms": 10.0,
        **changed,
    }
    return Row(**values)


def scores(**rows: list[Row]) -> Scores:
    return Scores(rows, questions=max((len(found) for found in rows.values()), default=0))


def cells(table: Table, at: int) -> dict[str, str]:
    return dict(zip(table.columns, table.rows[at], strict=True))


def test_a_variants_row_holds_means_over_what_was_scored_and_times_over_all():
    found = scores(
        keyword=[
            row("q1", 1.0, ms=10),
            row("q2", 0.5, ms=20),
            row("q3", None, ms=90, measures={"refused": 1.0}),
        ]
    )

    shown = cells(variant_table(found), 0)

    assert (shown["variant"], shown["n"]) == ("keyword", "2")
    assert (shown["mrr"], shown["ndcg@10"], shown["refused"]) == ("0.750", "0.750", "1.000")
    assert (shown["p50 ms"], shown["p95 ms"]) == ("20.0", "90.0")
    assert shown["recall@5"] == "–"


def test_measures_of_a_signal_are_columns_only_where_a_variant_gives_it():
    table = variant_table(scores(keyword=[row("q1")]))

    assert not {"refused", "false_refusals", "asked_back", "leaks"} & set(table.columns)
    assert "leaks" in variant_table(scores(keyword=[row("q1", measures={"leaks": 0.0})])).columns


def test_categories_are_in_order_of_their_names_and_variants_as_they_were_asked():
    found = scores(
        keyword=[row("q1", 0.5, category="temporal"), row("q2", 1.0, category="alias")],
        hybrid=[row("q1", 1.0, category="temporal"), row("q2", 1.0, category="alias")],
    )

    rows = category_table(found).rows

    assert [cell[:2] for cell in rows] == [
        ("alias", "keyword"),
        ("alias", "hybrid"),
        ("temporal", "keyword"),
        ("temporal", "hybrid"),
    ]
    assert cells(category_table(found), 2)["ndcg@10"] == "0.500"


def test_questions_across_languages_are_a_kind_of_their_own():
    found = scores(
        keyword=[
            row("q1", 1.0, language="de", category="same_language"),
            row("q2", 0.0, language="de", category="cross_language"),
            row("q3", 0.5, language="en"),
        ]
    )

    assert [cell[0] for cell in language_table(found).rows] == [
        "de cross_language",
        "de same_language",
        "en",
    ]


def test_each_variant_is_compared_with_those_before_it():
    found = scores(
        bm25s=[row("q1", 0.0), row("q2", 0.5), row("q3", 0.5), row("q4", None)],
        keyword=[row("q1", 1.0), row("q2", 1.0), row("q3", 0.5), row("q4", None)],
        hybrid=[row("q1", 1.0), row("q2", 0.5), row("q3", 0.5), row("q4", None)],
    )

    table = sign_table(found)

    assert [cell[:2] for cell in table.rows] == [
        ("keyword", "bm25s"),
        ("hybrid", "bm25s"),
        ("hybrid", "keyword"),
    ]
    first = cells(table, 0)
    assert [first[name] for name in ("wins", "losses", "ties", "p")] == ["2", "0", "1", "0.5000"]
    assert first["mean difference"] == "+0.500"
    assert cells(table, 2)["mean difference"] == "-0.167"


def test_variants_without_a_question_in_common_are_not_compared():
    table = sign_table(scores(a=[row("q1")], b=[row("q2")]))

    assert table.rows == (("b", "a", *["–"] * 6),)


def test_tables_are_those_that_say_something():
    one = scores(keyword=[row("q1")])
    two = scores(keyword=[row("q1"), row("q2", language="de")], hybrid=[row("q1"), row("q2")])

    assert tables(scores()) == tables(scores(keyword=[])) == []
    assert [each.title for each in tables(one)] == ["All questions", "By category"]
    assert [each.title.split(" (")[0] for each in tables(two)] == [
        *("All questions", "By category", "By language", "Sign tests"),
    ]


def test_times_stand_in_the_last_columns_and_nowhere_else():
    quick = scores(a=[row("q1", ms=1), row("q2", ms=2)], b=[row("q1", ms=3), row("q2", ms=4)])
    slow = Scores(
        {name: [replace(each, ms=each.ms * 99) for each in rows] for name, rows in
         quick.rows.items()},
        questions=2,
    )  # fmt: skip

    for before, after in zip(tables(quick), tables(slow), strict=True):
        kept = [at for at, column in enumerate(before.columns) if not column.endswith(" ms")]
        assert [[cell[at] for at in kept] for cell in before.rows] == [
            [cell[at] for at in kept] for cell in after.rows
        ]
        assert kept == list(range(len(kept)))


def test_markdown_has_a_head_and_a_line_for_each_row():
    table = Table("Scores", ("variant", "n"), (("keyword", "2"), ("hybrid", "3")))

    assert table.markdown() == (
        "**Scores**\n\n| variant | n |\n|---|---:|\n| keyword | 2 |\n| hybrid | 3 |\n"
    )


def test_a_cell_opens_no_other_cell_or_line():
    table = Table("Scores", ("language", "n"), (("en|de\n\n# x", "2"),))

    assert table.markdown().splitlines()[-1] == r"| en\|de # x | 2 |"


@pytest.mark.parametrize(
    ("count", "share", "rank"),
    [(1, 0.5, 1), (2, 0.5, 1), (3, 0.5, 2), (4, 0.5, 2), (1, 0.95, 1), (19, 0.95, 19),
     (20, 0.95, 19), (21, 0.95, 20), (100, 0.95, 95), (40, 0.95, 38), (10, 1.0, 10), (10, 0, 1)],
)  # fmt: skip
def test_a_percentile_is_that_of_the_nearest_rank(count, share, rank):
    assert percentile(list(range(count, 0, -1)), share) == rank


def test_the_percentile_of_nothing_is_nothing():
    assert percentile([], 0.5) == 0


def test_the_headline_is_one_line_of_what_was_measured():
    found = scores(hybrid=[row("q1", 1.0), row("q2", 0.5), row("q3", None)])

    assert headline(found, "hybrid") == (
        "2 of 3 questions scored: hybrid recall@10 0.75, mrr 0.75, 10 ms at the median"
    )


def test_what_moved_is_sorted_from_the_worst_and_says_where_the_note_stands():
    before = [
        row("q1", 1.0, ranking=("a.md", "b.md")),
        row("q2", 0.5, ranking=("b.md", "a.md")),
        row("q3", 1.0),
        row("q4", 1.0, ranking=("a.md",)),
        row("q5", None),
    ]
    after = [
        row("q1", 0.5, ranking=("b.md", "a.md")),
        row("q2", 1.0, ranking=("a.md", "b.md")),
        row("q3", 1.0),
        row("q4", 0.0, ranking=("b.md",)),
        row("q5", None),
    ]

    found = moved(before, after, {f"q{n}": ("a.md",) for n in range(1, 5)})

    assert [(each.id, each.best_before, each.best_after) for each in found] == [
        ("q4", 1, 0),
        ("q1", 1, 2),
        ("q2", 2, 1),
    ]
    shown = moved_table(found, {"q4": "What?"}).rows
    assert shown[0] == ("q4", "-1.000", "1.000 → 0.000", "1 → –", "What?")


@pytest.mark.parametrize(
    "before",
    [
        [],
        [row("q1", 1.0, key="other words")],
        [row("q2", 1.0)],
    ],
)
def test_only_questions_in_the_same_words_are_compared(before):
    assert moved(before, [row("q1", 0.0)], {}) == []


def test_of_several_notes_the_one_that_changed_its_place_is_shown():
    before = [row("q1", 1.0, ranking=("a.md", "b.md"))]
    after = [row("q1", 0.7, ranking=("a.md", "x.md", "b.md"))]

    (found,) = moved(before, after, {"q1": ("a.md", "b.md")})

    assert (found.best_before, found.best_after) == (2, 3)


def swept(sweep: Sweep, **values: list[Row]) -> Table:
    return sweep.table(Scores({sweep.variants[int(k[1:])]: v for k, v in values.items()}, 2))


@pytest.mark.parametrize("turned", DEFAULTS)
def test_a_sweep_turns_what_a_variant_can_be_told(turned):
    sweep = Sweep.parse(turned)

    by = "hybrid+graph" if turned in ("margin", "split") else "hybrid"
    own = replace(DEFAULT_TUNING, margin=0.03) if turned == "margin" else DEFAULT_TUNING
    assert sweep.present in sweep.values
    assert parse(sweep.variants[sweep.present]) == (by, own)
    assert len({parse(name) for name in sweep.variants.values()}) == len(sweep.values)


@pytest.mark.parametrize("text", ["", "depth", "k=0", "k=1,,2", "k=a", "k=-1"])
def test_a_sweep_that_means_nothing_is_refused(text):
    with pytest.raises(SettingsError):
        Sweep.parse(text)


def test_a_sweep_compares_each_value_with_the_present_one():
    sweep = Sweep.parse("cap=1")

    shown = swept(sweep, v1=[row("q1", 0.5), row("q2", 1.0)], v3=[row("q1"), row("q2")])

    assert [cell[0] for cell in shown.rows] == ["1", "3 (now)"]
    assert cells(shown, 0)["ndcg@10: won-lost, p"] == "0-1, 1.00"
    assert cells(shown, 1)["ndcg@10: won-lost, p"] == "0-0, 1.00"
    assert cells(shown, 0)["ndcg@10"] == "0.750"


def test_a_sweep_whose_present_value_could_not_be_asked_shows_the_others():
    shown = swept(Sweep.parse("cap=1"), v1=[row("q1", 0.5)])

    assert cells(shown, 0)["ndcg@10: won-lost, p"] == "–"


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.svg.txt"])
def test_other_kinds_of_files_are_not_drawn(tmp_path, name):
    with pytest.raises(SettingsError, match=r"svg or \.png"):
        check_ending(tmp_path / name)


def test_a_plot_of_many_builds_keeps_its_labels_apart_and_is_the_same_twice(tmp_path):
    ticks = [f"b{n:05}" for n in range(100)]
    lines = {"mrr": [0.5, None] * 50}

    for name in ("one.svg", "two.svg"):
        draw(tmp_path / name, "Scores", "build", ticks, lines)

    first = (tmp_path / "one.svg").read_bytes()
    assert first == (tmp_path / "two.svg").read_bytes()
    labels = [tick for tick in ticks if f"<!-- {tick} -->".encode() in first]
    assert 10 < len(labels) <= 17
