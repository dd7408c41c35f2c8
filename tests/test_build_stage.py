"""One manifest over what is stored, and the gates before it is published."""

import pyarrow as pa
import pytest

from kb_assets.build.gates import folder_problems
from kb_assets.build.manifest import make_manifest
from kb_core.errors import NotBuiltError, StoreError
from resources.builds import Builds
from resources.tables import Pointer

SETTINGS = {"token_counter": "regex"}


def pointer(name: str) -> Pointer:
    return Pointer(name, 1, "1", {"from": "x"}, {"table": f"{name}.parquet"}, {"table": 1})


def manifest(pointers, previous=None, folders=None):
    return make_manifest(folders or {"p": "Work"}, pointers, {}, SETTINGS, previous or {})


def test_a_manifest_names_content_and_no_inputs():
    made = manifest({"p": {"chunks": pointer("c")}})

    assert made["folders"]["p"]["artifacts"]["chunks"]["hash"] == "c"
    assert "inputs" not in made["folders"]["p"]["artifacts"]["chunks"]


def test_the_order_of_folders_does_not_matter():
    both = {"p": {"chunks": pointer("c")}, "q": {"chunks": pointer("d")}}
    turned = dict(reversed(both.items()))

    first = manifest(both, folders={"p": "A", "q": "B"})
    second = manifest(turned, folders={"q": "B", "p": "A"})

    assert first == second
    assert list(first["folders"]) == ["p", "q"]


def test_a_folder_cut_off_half_way_answers_with_what_it_had():
    old = manifest({"p": {"chunks": pointer("old")}})

    assert manifest({"p": {}}, old["folders"]) == old
    assert manifest({"p": {}})["folders"] == {}


def test_a_folder_with_news_never_keeps_its_old_entry():
    old = manifest({"p": {"chunks": pointer("old")}})

    assert manifest({"p": {"chunks": pointer("new")}}, old["folders"]) != old


def columns(**values: list) -> pa.Table:
    return pa.table(values)


GOOD = {
    "files": columns(path=["a.md", "b.png"], is_note=[True, False], status=["readable", "skipped"]),
    "notes": columns(version_id=["1", "2"], note_id=["a.md", "a.md"], is_current=[False, True]),
    "chunks": columns(version_id=["1", "2"], chunk_id=["c", "c"], text_id=["t", "u"]),
    "indexed_rows": 2,
    "said": {"mentions": columns(version_id=["2"], chunk_id=["c"])},
}


def test_tables_that_fit_together_may_be_published():
    assert folder_problems("Work", **GOOD) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"notes": GOOD["notes"].slice(0, 1)}, "1 readable notes are not among the notes"),
        (
            {"chunks": columns(version_id=["1", "9"], chunk_id=["c", "c"], text_id=["t", "u"])},
            "1 chunks are of note versions that do not exist",
        ),
        (
            {"said": {"claims": columns(version_id=["2", "2"], chunk_id=["c", "d"])}},
            "1 rows of claims stand in chunks that do not exist",
        ),
        ({"indexed_rows": 1}, "the keyword index holds 1 texts, the chunks 2"),
    ],
)
def test_a_gap_between_tables_is_a_reason_not_to_publish(changed, words):
    problems = folder_problems("Work", **{**GOOD, **changed})

    assert any(words in problem for problem in problems)


@pytest.fixture
def builds(tmp_path):
    return Builds(tmp_path)


def test_nothing_is_current_before_the_first_publishing(builds):
    with pytest.raises(NotBuiltError, match="kb build"):
        builds.current()


def test_publishing_moves_the_pointer_and_tells_whether_it_moved(builds):
    name = builds.write(manifest({}))

    assert builds.publish(name) is True
    assert builds.publish(name) is False
    assert builds.current() == name


def test_what_cannot_be_read_is_never_published(builds, tmp_path):
    with pytest.raises(StoreError, match="missing"):
        builds.publish("0" * 32)
    name = builds.write(manifest({}))
    (tmp_path / "builds" / f"{name}.json").write_text("{}")

    with pytest.raises(StoreError, match="damaged"):
        builds.publish(name)


def test_equal_manifests_have_one_name(builds):
    assert builds.write(manifest({})) == builds.write(manifest({}))
