"""`kb check`: a summary first, the first rows of each section, one section whole, its status."""

import pytest

from kb_serve.reports.catalogue import ALL
from tests.built_home import build, open_home
from tests.kb_command import kb_json, run_kb
from tests.small_vault import put

TARGETS = [f"Missing {number:02}" for number in range(14)]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    links = " ".join(f"[[{target}]]" for target in TARGETS)
    put(folder / "vault", "Hub.md", f"{links} [[Plan]] [[Missing 13]] [[\x1b[31mred]]\n")
    put(folder / "vault", "Work/Plan.md", "See [[Hub#Gone]].\n")
    put(folder / "vault", "Work/map.canvas", "{}")
    home = open_home(folder / "home", folder / "vault")
    build(home, with_vectors=False)
    return home


def check(home, *arguments):
    done = run_kb("check", *arguments, "--home", str(home.root))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_summary_stands_first_and_names_every_section(home):
    lines = check(home).splitlines()

    assert lines[0] == "2 indexed + 1 skipped + 0 failed = 3 files: adds up."
    assert lines[1] == "Links: 16 dangling, 2 resolved."
    summary = lines[lines.index("Summary") + 2 : lines.index("Summary") + 2 + len(ALL)]
    assert [line.split("\t")[0] for line in summary] == [kind.command_name for kind in ALL]
    assert (
        "dangling\t15\tLinks to notes that do not exist. Write the note, or mend the link."
        in summary
    )
    assert "aliases\t0\tLinks that use an alias: none." in summary


def test_ten_rows_of_a_section_are_shown_the_most_frequent_first_and_the_rest_on_request(home):
    shown = check(home).splitlines()
    start = shown.index("Links to notes that do not exist (15)")

    assert shown[start + 1] == "target\tlinks\tin"
    assert shown[start + 2] == "Missing 13\t2\tHub"
    assert len(shown[start + 2 : shown.index("… and 5 more: kb check --only dangling")]) == 10
    whole = check(home, "--only", "dangling")
    assert all(target in whole for target in TARGETS)
    assert "more: kb check" not in check(home, "--all")


def test_a_section_that_found_nothing_is_left_out_but_answers_when_asked(home):
    assert "\nFaults of cards (0)" not in check(home)
    assert check(home, "--only", "cards") == "Faults of cards: none.\n"


def test_a_section_has_one_name_on_the_command_line_and_in_the_object(home):
    both = [check(home, "--only", name) for name in ("not-read", "not_read")]

    assert both[0] == both[1]
    assert ".canvas" in both[0]


def test_an_unknown_section_is_refused_with_the_names_of_all(home):
    done = run_kb("check", "--only", "danglin", "--home", str(home.root))

    assert done.returncode == 2
    assert all(kind.command_name in done.stderr for kind in ALL)


def test_names_cannot_steer_a_terminal(home):
    shown = check(home, "--only", "dangling")

    assert "\x1b" not in shown
    assert "\\x1b[31mred" in shown


def test_the_object_holds_every_row_and_its_counts_agree(home):
    whole = kb_json("check", "--home", str(home.root))
    one = kb_json("check", "--only", "headings", "--home", str(home.root))

    assert {name: len(whole[name]) for name in whole["counts"]} == whole["counts"]
    assert set(whole["counts"]) == {kind.name for kind in ALL}
    assert whole["links"] == {"dangling": 16, "resolved": 2, "ambiguous": 0}
    assert one["headings"] == whole["headings"]
    assert set(one) == {"adds_up", "links", "counts", "headings"}


def test_files_that_are_not_accounted_for_end_it_with_status_1(home, tmp_path):
    put(tmp_path / "vault", "A.md", "x")
    put(tmp_path / "vault", "B.md", "y")
    other = open_home(tmp_path / "home", tmp_path / "vault")
    build(other, with_vectors=False)
    (partition,) = other.store.partitions("notes")
    notes = other.store.read("notes", partition)
    other.store.write("notes", notes[:1], partition=partition, inputs={}, code_version="x")

    done = run_kb("check", "--home", str(other.root))

    assert done.returncode == 1
    assert "DOES NOT ADD UP: run `kb build`" in done.stdout
