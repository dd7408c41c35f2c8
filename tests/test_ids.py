"""Ids and fingerprints: equal content, equal name, on every machine."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from kb_core.ids import content_id, fingerprint, partition_key

columns = st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=12)


def table(values: list[str | None]) -> pa.Table:
    return pa.table({"value": pa.array(values, pa.string())})


def test_moving_text_between_parts_changes_the_id():
    assert content_id("ab", "c") != content_id("a", "bc")
    assert content_id("a\x1fb") != content_id("a", "b")


def test_order_and_nulls_count_in_a_fingerprint():
    assert fingerprint(table(["a", "b"])) != fingerprint(table(["b", "a"]))
    assert fingerprint(table([None])) != fingerprint(table([""]))


def test_a_partition_key_is_readable_and_names_the_root():
    assert partition_key("Work/Mind reader").startswith("work-mind-reader-")
    assert partition_key("").startswith("vault-root-")
    assert partition_key("客户").startswith("folder-")


@given(columns, st.data())
def test_a_fingerprint_depends_on_content_not_on_memory_layout(values, data):
    cut = data.draw(st.integers(0, len(values)))
    whole = table(values)
    rebuilt = pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])

    assert fingerprint(rebuilt) == fingerprint(whole)
    assert fingerprint(whole.slice(0, cut)) == fingerprint(table(values[:cut]))


@given(st.text(max_size=300))
def test_a_partition_key_is_a_safe_file_name_whatever_the_folder_is_called(folder):
    key = partition_key(folder)

    assert len(key) <= 69
    assert set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert key == partition_key(folder)


def test_a_table_read_from_parquet_has_the_fingerprint_it_was_written_with():
    rows = {"words": [["a", "b"], []], "pairs": [[{"name": "x", "value": "y"}], []]}
    for whole in (pa.table(rows), pa.table(rows).slice(0, 0)):
        sink = io.BytesIO()
        pq.write_table(whole, sink)
        again = pq.read_table(sink)

        assert fingerprint(again) == fingerprint(whole)
        assert fingerprint(pa.concat_tables([again, whole])) == fingerprint(
            pa.concat_tables([whole, whole])
        )
