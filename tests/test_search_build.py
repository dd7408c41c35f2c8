import json

import pytest

from kb_core.errors import NotBuiltError, SettingsError, StoreError
from kb_core.ids import partition_key
from kb_search.build import PublishedBuild
from kb_search.view import View
from resources.builds import Builds
from tests.standins.small_build import MadeChunk, publish

NOTES = {
    "work/plans": [MadeChunk("work/plans/a.md", "apples", [1, 0, 0, 0])],
    "work/old": [MadeChunk("work/old/b.md", "bananas")],
    "": [MadeChunk("c.md", "cherries")],
}


@pytest.fixture
def home(tmp_path):
    publish(tmp_path, NOTES)
    return tmp_path


def stored(home, pattern):
    return sorted((home / "data" / "store").glob(pattern))


def paths(view):
    return [folder.path for folder in view.folders]


def test_nothing_published_says_what_to_do(tmp_path):
    with pytest.raises(NotBuiltError, match="kb build"):
        PublishedBuild.open(tmp_path)


def test_folders_come_in_order_of_their_paths(home):
    assert paths(View.over(PublishedBuild.open(home))) == ["", "work/old", "work/plans"]


@pytest.mark.parametrize(
    ("named", "found"),
    [
        (["work/plans"], ["work/plans"]),
        (["/work/plans/"], ["work/plans"]),
        (["work"], ["work/old", "work/plans"]),
        ([partition_key("")], [""]),
        (["/"], [""]),
        (["work/plans", "work"], ["work/old", "work/plans"]),
        ([], []),
    ],
)
def test_a_folder_is_named_by_its_path_or_one_above_or_its_key(home, named, found):
    assert paths(View.over(PublishedBuild.open(home), named)) == found


@pytest.mark.parametrize("name", ["wor", "work/plans/deeper", "nowhere"])
def test_an_unknown_folder_is_refused_with_what_there_is(home, name):
    with pytest.raises(SettingsError, match="work/plans"):
        View.over(PublishedBuild.open(home), [name])


@pytest.mark.parametrize("pattern", ["chunks/*/*.parquet", "keyword_index/*/*", "vectors/*/*.npy"])
def test_a_missing_file_is_found_at_opening(home, pattern):
    stored(home, pattern)[0].unlink()

    with pytest.raises(StoreError, match=r"missing\. Run `kb build`"):
        PublishedBuild.open(home)


def test_a_damaged_chunks_file_is_refused(home):
    for path in stored(home, "chunks/*/*.parquet"):
        path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(StoreError, match="damaged"):
        View.over(PublishedBuild.open(home)).counts  # noqa: B018


def test_a_damaged_index_file_is_refused(home):
    for path in stored(home, "keyword_index/*/*.npy"):
        path.write_bytes(b"not an array")

    with pytest.raises(StoreError, match="damaged"):
        View.over(PublishedBuild.open(home)).keyword  # noqa: B018


def test_a_build_of_another_format_is_refused(home):
    builds = Builds(home / "data")
    manifest = builds.read(builds.current()) | {"format": 99}
    builds.publish(builds.write(json.loads(json.dumps(manifest))))

    with pytest.raises(StoreError, match="99"):
        PublishedBuild.open(home)


def test_a_folder_without_its_keyword_index_is_refused(home):
    builds = Builds(home / "data")
    manifest = builds.read(builds.current())
    for folder in manifest["folders"].values():
        del folder["artifacts"]["keyword_index"]
    builds.publish(builds.write(manifest))

    with pytest.raises(StoreError, match="keyword_index"):
        PublishedBuild.open(home)


def test_opening_reads_no_folder(home):
    build = PublishedBuild.open(home)

    assert not any("rows" in vars(folder) for folder in build.folders)


def test_older_versions_are_outside_the_view(tmp_path):
    old = MadeChunk("a/n.md", "apples cost 100", is_current=False)
    publish(tmp_path, {"a": [MadeChunk("a/n.md", "apples cost 120", version=2), old]})

    view = View.over(PublishedBuild.open(tmp_path))

    assert view.texts == 1
    assert view.keyword.weights(["100", "120"]).keys() == {"120"}


def test_an_older_version_with_the_same_text_is_not_found_beside_the_present_one(tmp_path):
    versions = [
        MadeChunk("a/n.md", "apples", version=2),
        MadeChunk("a/n.md", "apples", is_current=False),
    ]
    publish(tmp_path, {"a": versions})
    view = View.over(PublishedBuild.open(tmp_path))

    rows, _ = view.rows_of(view.counts[0].nonzero()[0])

    assert rows.tolist() == [0]


def test_chunks_with_the_same_text_are_counted_and_found_each(tmp_path):
    twins = [MadeChunk(f"a/{name}/twin.md", "apples") for name in ("x", "y")]
    publish(tmp_path, {"a": [*twins, MadeChunk("a/other.md", "pears")]})
    view = View.over(PublishedBuild.open(tmp_path))

    rows, docs = view.rows_of(view.counts[0].nonzero()[0])

    assert view.counts[0].tolist() == [2, 1]
    assert (rows.tolist(), docs.tolist()) == ([0, 1, 2], [0, 0, 1])
