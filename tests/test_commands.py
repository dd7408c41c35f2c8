"""The commands as a person meets them: help, errors, one JSON line, no trace of a traceback."""

import json

import pytest

from kb_serve.cli import EVERYDAY, UPKEEP
from kb_serve.languages import language_of
from kb_serve.output import counted, duration, visible
from tests.kb_command import kb_json, make_home, run_kb
from tests.ready_home import ready_home
from tests.small_vault import make_vault, put

COMMANDS = (*EVERYDAY, *UPKEEP)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return ready_home(tmp_path_factory.mktemp("commands")).home


def test_help_lists_everyday_commands_first():
    shown = run_kb("--help", cold=True).stdout

    assert shown.index("Everyday") < shown.index("  init ") < shown.index("Upkeep")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name):
    shown = run_kb(name, "--help", cold=True).stdout  # it loads whatever else is loaded

    assert f"kb {name}" in shown.split("Options:")[0].split("\n", 1)[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("search", "x", "--home", "/nowhere"), "kb init"),
        (("init", "/nowhere"), "There is no folder"),
        (("build", "--folder", "Nope"), "There are:"),
        (("search", "ferry", "--folder", "Nope"), "No folder 'Nope'"),
    ],
)
def test_errors_say_what_to_do_and_never_show_a_traceback(home, arguments, words):
    where = () if "--home" in arguments or "init" in arguments else ("--home", str(home))

    done = run_kb(*arguments, *where)

    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_what_the_system_refuses_is_said_in_words(tmp_path):
    vault = put(tmp_path / "vault", "a.md", "a").parent
    blocked = put(tmp_path, "file", "")

    done = run_kb("init", str(vault), "--home", str(blocked / "home"), "--json")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["error"]


def test_a_wrong_call_is_an_object_too(home):
    done = run_kb("search", "ferry", "--notes", "0", "--json", "--home", str(home))

    assert done.returncode == 2
    assert "notes" in json.loads(done.stdout.splitlines()[-1])["message"]


def test_an_empty_question_is_refused(home):
    assert "empty" in run_kb("search", "  ", "--home", str(home)).stderr


@pytest.mark.parametrize(
    ("folder", "notes"),
    [
        ("Work", {"Work/Ferry log.md"}),
        ("./Work/", {"Work/Ferry log.md"}),
        ("/", {"Home.md"}),
        ("(root)", {"Home.md"}),
    ],
)
def test_a_folder_is_named_as_people_name_it(home, folder, notes):
    arguments = ("start ferry log passengers aurora", "--folder", folder, "--home", str(home))

    found = {row["note"] for row in kb_json("search", *arguments)["results"]}

    assert notes <= found
    assert {note.rpartition("/")[0] for note in found} == {next(iter(notes)).rpartition("/")[0]}


def test_a_folder_below_a_partition_can_be_searched_alone(tmp_path):
    vault = put(tmp_path / "vault", "Work/deep/a.md", "the ferry sails").parents[2]
    put(vault, "Work/b.md", "the ferry waits")
    home = make_home(vault, tmp_path / "home")
    kb_json("build", "--home", str(home))

    found = kb_json("search", "ferry", "--folder", "Work/deep", "--home", str(home))["results"]

    assert [row["note"] for row in found] == ["Work/deep/a.md"]


def test_a_damaged_build_is_mended_by_building(tmp_path):
    home, _, first = ready_home(tmp_path)
    name = first["build"]
    damage = [home / "data" / "builds" / f"{name}.json"]
    damage += [next((home / "data" / "store" / "chunks").glob("work-*/*.parquet"))]
    damage += [next((home / "data" / "store" / "keyword_index").glob("work-*/*.npy"))]

    for path in damage:
        path.write_bytes(path.read_bytes()[:40])
        failed = kb_json("search", "ferry", "--home", str(home), status=1)
        assert failed["error"] == "StoreError"
        assert kb_json("build", "--home", str(home))["build"] == name
        assert kb_json("search", "ferry", "--home", str(home))["results"]


def test_check_before_any_build_says_so(tmp_path):
    home = make_home(make_vault(tmp_path / "vault"), tmp_path / "home")

    assert "kb build" in kb_json("check", "--home", str(home), status=1)["message"]


def test_an_error_is_an_object_too(tmp_path):
    failed = kb_json("search", "x", "--home", str(tmp_path), status=1)

    assert failed["error"] == "SettingsError"


def test_searching_before_building_says_so(tmp_path):
    home = make_home(make_vault(tmp_path / "vault"), tmp_path / "home")

    assert "kb build" in kb_json("search", "x", "--home", str(home), status=1)["message"]


@pytest.mark.parametrize(
    "arguments",
    [("doctor",), ("check",), ("folders",), ("search", "ferry"), ("build",), ("refresh",)],
)
def test_json_ends_stdout_with_one_line(home, arguments):
    done = run_kb(*arguments, "--json", "--home", str(home))

    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout.splitlines()[-1]), dict)


def test_doctor_says_what_is_inside_and_what_is_missing(home):
    shown = run_kb("doctor", "--home", str(home)).stdout

    assert "8 notes in 5 folders" in shown
    assert "English" in shown
    assert "Chinese" in shown
    assert ".canvas" in shown
    assert "switched off" in shown


def test_check_lists_broken_links_and_odd_notes(home):
    checked = kb_json("check", "--home", str(home))

    assert checked["adds_up"]
    codes = {row["code"] for row in checked["findings"]}
    assert codes == {"front-matter-broken", "file-time-dropped"}
    assert {row["reason"] for row in checked["not_read"]} == {
        "not Markdown: .canvas",
        "not Markdown: .png",
    }


def test_refresh_is_silent_when_all_is_well(home):
    done = run_kb("refresh", "--home", str(home))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_folders_that_are_gone_are_pruned_on_request(tmp_path):
    home, vault, _ = ready_home(tmp_path)
    (vault / "Chats" / "Names.md").unlink()
    (vault / "Chats").rmdir()
    kb_json("build", "--home", str(home))

    assert kb_json("folders", "prune", "--home", str(home)) == {"pruned": ["Chats"]}
    assert kb_json("build", "--home", str(home))["errors"] == []
    names = {row["folder"] for row in kb_json("folders", "--home", str(home))["folders"]}
    assert "Chats" not in names


def test_init_never_overwrites_a_home(home, tmp_path):
    vault = put(tmp_path / "v", "a.md", "a").parent

    assert "is a home already" in run_kb("init", str(vault), "--home", str(home)).stderr


def test_a_dagster_home_elsewhere_is_ignored_with_a_word(tmp_path):
    home, vault, _ = ready_home(tmp_path)
    put(vault, "Home.md", "# Home\n\nThere is something to run.\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    done = run_kb("build", "--home", str(home), env={"DAGSTER_HOME": str(elsewhere)})

    assert "DAGSTER_HOME is ignored" in done.stderr
    assert list(elsewhere.iterdir()) == []


def test_names_cannot_steer_a_terminal():
    assert visible("a\x1b[31m\n\u202eb") == "a\\x1b[31m\\x0a\\x202eb"


def test_amounts_read_like_a_person_says_them():
    assert [duration(s) for s in (42, 300, 5000)] == ["42 s", "5 min", "1 h 23 min"]
    assert (counted(1, "note"), counted(2000, "note")) == ("1 note", "2,000 notes")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The price of the pier and what is not in it", "English"),
        ("Der Preis ist nicht mit dem Haus für die Werft", "German"),
        ("El precio de la casa no es una sorpresa para los socios", "Spanish"),
        ("码头的预算是十二万欧元", "Chinese"),
        ("これは日本語の文章です", "Japanese"),
        ("42", "unclear"),
    ],
)
def test_a_language_is_guessed_from_script_and_small_words(text, language):
    assert language_of(text) == language
