"""`kb history import`: what git knows of the notes, in order, once, with nothing started."""

import datetime as dt
import itertools
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb_assets.notes.run import run as read_notes
from kb_assets.placeholders.git_import import import_git, steps
from kb_assets.placeholders.run import run as look
from kb_core.errors import VaultError
from kb_core.ids import partition_key
from kb_core.settings import VaultSettings
from resources.git_repository import Change, Commit, GitRepository
from resources.history import History
from tests.built_home import look_at, open_home
from tests.small_vault import put

NOW = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
ROOT = partition_key("")
GIT = shutil.which("git") or ""

pytestmark = pytest.mark.skipif(not GIT, reason="git is not installed")


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _file: None)


def git(folder: Path, *arguments: str, at: str = "2024-01-10T09:00:00Z", **more: str) -> str:
    """Run git in a repository of ours, at an instant of ours."""
    env = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": at,
        "GIT_COMMITTER_DATE": at,
        **more,
    }
    names = ["-c", "user.name=Mara", "-c", "user.email=mara@example.org"]
    done = subprocess.run(
        [GIT, "-C", str(folder), *names, *arguments],
        env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


class Repository:
    """A vault that is a repository."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        git(root, "init", "-q", "-b", "main", ".")

    def commit(self, at: str, files: dict[str, str | bytes | None]) -> None:
        for path, content in files.items():
            if content is None:
                (self.root / path).unlink()
            else:
                put(self.root, path, content)
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", "x", at=at)


@pytest.fixture
def vault(tmp_path):
    made = Repository(tmp_path / "vault")
    made.commit("2024-01-10T09:00:00Z", {"Plan.md": "# Plan\n\nOpen.\n", "Old.md": "# Old\n"})
    made.commit("2024-02-11T09:00:00Z", {"Plan.md": "# Plan\n\nDone.\n", "Old.md": None})
    made.commit("2024-03-12T09:00:00Z", {"Work/Pier.md": "# Pier\n", "photo.png": b"\x89PNG"})
    return made


@pytest.fixture
def home(tmp_path, vault):
    return open_home(tmp_path / "home", vault.root)


def journal(home, folder="") -> list[tuple[str, str, str | None, str | None]]:
    """Return note, day, text (None: gone) and source of every version."""
    history = History(home.data / "history")
    return [
        (
            row["note_id"],
            row["observed_at"].date().isoformat(),
            None if row["content"] is None else row["content"].decode("utf-8", "replace"),
            row["source"],
        )
        for row in history.read(partition_key(folder)).to_pylist()
    ]


def notes(home, folder=""):
    key = partition_key(folder)
    read_notes(home, key)
    rows = home.store.read("notes", key).to_pylist()
    return sorted(rows, key=lambda row: (row["note_id"], row["version"]))


def test_every_version_stands_under_the_instant_of_its_commit(home):
    done = import_git(home, NOW)

    assert (done.versions, done.gone, done.notes) == (4, 1, 3)
    assert (done.first.isoformat(), done.last.date().isoformat()) == (
        "2024-01-10T09:00:00+00:00",
        "2024-03-12",
    )
    assert journal(home) == [
        ("Old.md", "2024-01-10", "# Old\n", "first commit"),
        ("Old.md", "2024-02-11", None, "commit"),
        ("Plan.md", "2024-01-10", "# Plan\n\nOpen.\n", "first commit"),
        ("Plan.md", "2024-02-11", "# Plan\n\nDone.\n", "commit"),
    ]
    assert journal(home, "Work") == [("Work/Pier.md", "2024-03-12", "# Pier\n", "first commit")]


def test_a_second_import_adds_nothing(home):
    import_git(home, NOW)
    before = journal(home)

    again = import_git(home, NOW + dt.timedelta(days=1))

    assert (again.versions, again.gone, again.known) == (0, 0, 5)
    assert journal(home) == before


def test_the_first_listing_after_it_finds_nothing_new(home):
    import_git(home, NOW)
    before = journal(home)

    look_at(home, NOW + dt.timedelta(hours=1))

    assert journal(home) == before


def test_before_or_after_the_first_listing_the_notes_are_the_same(tmp_path, vault):
    early, late = (open_home(tmp_path / name, vault.root) for name in ("early", "late"))
    import_git(early, NOW)
    look_at(early, NOW + dt.timedelta(hours=1))
    look_at(late, NOW + dt.timedelta(hours=1))
    import_git(late, NOW + dt.timedelta(hours=2))

    assert journal(early) == journal(late)
    assert notes(early) == notes(late)


def test_a_note_without_a_date_is_dated_by_the_commit_that_brought_it(home, vault):
    put(vault.root, "Plan.md", "# Plan\n\nDone, and paid.\n")  # not committed
    look_at(home, NOW)
    import_git(home, NOW + dt.timedelta(hours=1))

    plan = [row for row in notes(home) if row["note_id"] == "Plan.md"]

    assert [row["note_date"] for row in plan] == ["2024-01-10"] * 3
    assert {row["date_basis"] for row in plan} == {"first commit"}
    assert {row["date_is_weak"] for row in plan} == {False}
    available = [row["available_at"].date().isoformat() for row in plan]
    assert available == ["2024-01-10", "2024-02-11", "2026-01-02"]


def test_a_date_in_the_note_wins_and_is_no_newer_than_its_first_commit(tmp_path):
    vault = Repository(tmp_path / "vault")
    vault.commit(
        "2024-05-01T00:00:00Z",
        {"2021-03-01.md": "Log\n", "Next.md": "---\ndate: 2030-01-01\n---\n"},
    )
    home = open_home(tmp_path / "home", vault.root)
    import_git(home, NOW)

    log, following = notes(home)

    assert (log["date_basis"], log["note_date"]) == ("file name", "2021-03-01")
    assert log["available_at"].date().isoformat() == "2021-03-01"
    assert following["available_at"].date().isoformat() == "2024-05-01"


def test_what_a_listing_saw_is_not_overwritten_by_later_commits(home, vault):
    look_at(home, dt.datetime(2024, 2, 20, tzinfo=dt.UTC))
    put(vault.root, "Plan.md", "# Plan\n\nPaid.\n")
    vault.commit("2024-06-01T00:00:00Z", {})

    import_git(home, NOW)

    assert [row[1] for row in journal(home) if row[0] == "Plan.md"] == ["2024-01-10", "2024-02-11"]


def test_a_rename_is_a_deletion_and_an_addition(home, vault):
    git(vault.root, "mv", "Plan.md", "Work/Plan.md")
    vault.commit("2024-04-01T00:00:00Z", {})

    import_git(home, NOW)

    assert journal(home)[-1] == ("Plan.md", "2024-04-01", None, "commit")
    assert journal(home, "Work")[-1] == (
        "Work/Plan.md",
        "2024-04-01",
        "# Plan\n\nDone.\n",
        "first commit",
    )


def test_a_vault_below_the_repositorys_root_takes_its_own_notes_alone(tmp_path):
    whole = Repository(tmp_path / "whole")
    whole.commit("2024-01-01T00:00:00Z", {"README.md": "# Code\n", "notes/a/Plan.md": "# Plan\n"})
    home = open_home(tmp_path / "home", whole.root / "notes")

    assert import_git(home, NOW).versions == 1
    assert journal(home, "a") == [("a/Plan.md", "2024-01-01", "# Plan\n", "first commit")]


def test_what_a_listing_would_not_read_does_not_come_in(tmp_path):
    vault = Repository(tmp_path / "vault")
    vault.commit(
        "2024-01-01T00:00:00Z",
        {
            "A.md": "# A\n",
            ".hidden.md": "x",
            ".obsidian/n.md": "x",
            "Templates/T.md": "x",
            "data.csv": "x",
            "Large.md": "x" * 20_000,
        },
    )
    (vault.root / "Link.md").symlink_to("A.md")
    vault.commit("2024-01-02T00:00:00Z", {})
    home = open_home(tmp_path / "home", vault.root)
    text = (
        (home.root / "kb.toml")
        .read_text()
        .replace("[vault]\n", '[vault]\nignore = ["Templates*"]\nmax_note_mb = 0.01\n')
    )
    (home.root / "kb.toml").write_text(text)
    home = type(home).open(home.root)

    done = import_git(home, NOW)

    assert (done.versions, done.unreadable) == (1, 1)
    assert journal(home) == [("A.md", "2024-01-01", "# A\n", "first commit")]


def test_names_of_every_kind_come_through(tmp_path):
    vault = Repository(tmp_path / "vault")
    names = ["Cafe\u0301.md", "东港 计划.md", 'a"b\\c.md', " lead.md", "tab\there.md", ":1 2 A.md"]
    vault.commit(
        "2024-01-01T00:00:00Z", {name: f"# {number}\n" for number, name in enumerate(names)}
    )
    home = open_home(tmp_path / "home", vault.root)
    import_git(home, NOW)
    look_at(home, NOW + dt.timedelta(hours=1))

    assert len(journal(home)) == len(names)
    assert {row[3] for row in journal(home)} == {"first commit"}


def test_merges_count_by_what_they_brought_into_the_main_line(home, vault):
    git(vault.root, "checkout", "-q", "-b", "other", "HEAD~1")
    vault.commit("2024-03-20T00:00:00Z", {"Phone.md": "# From the phone\n"})
    git(vault.root, "checkout", "-q", "main")
    vault.commit("2024-03-21T00:00:00Z", {"Plan.md": "# Plan\n\nPaid.\n"})
    git(vault.root, "merge", "-q", "--no-ff", "other", "-m", "x", at="2024-03-25T00:00:00Z")

    import_git(home, NOW)

    days = {row[0]: row[1] for row in journal(home)}
    assert (days["Phone.md"], days["Plan.md"]) == ("2024-03-25", "2024-03-21")


def test_a_clock_that_went_wrong_does_not_turn_the_order_round(tmp_path):
    vault = Repository(tmp_path / "vault")
    for at, text in (
        ("2024-05-01", "one"),
        ("1999-01-01", "two"),
        ("2099-01-01", "three"),
        ("2024-06-01", "four"),
    ):
        vault.commit(f"{at}T00:00:00Z", {"A.md": text})
    home = open_home(tmp_path / "home", vault.root)

    import_git(home, NOW)

    assert [(row[1], row[2]) for row in journal(home)] == [
        ("2024-05-01", "one"),
        ("2024-05-01", "two"),
        ("2024-05-01", "three"),
        ("2024-06-01", "four"),
    ]


def test_a_shallow_clone_dates_no_note_by_where_it_is_cut_off(tmp_path, vault):
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{vault.root}", "shallow")
    home = open_home(tmp_path / "home", tmp_path / "shallow")

    done = import_git(home, NOW)

    assert done.is_shallow
    assert journal(home) == [("Plan.md", "2024-02-11", "# Plan\n\nDone.\n", "commit")]
    assert journal(home, "Work")[0][3] == "first commit"
    assert [row["date_basis"] for row in notes(home)] != ["first commit"]


def test_since_leaves_the_older_ones_out_and_a_later_import_brings_them(home):
    some = import_git(home, NOW, since=dt.datetime(2024, 2, 1, tzinfo=dt.UTC))
    middle = journal(home)
    rest = import_git(home, NOW)

    assert (some.versions, rest.versions) == (2, 2)
    assert ("Plan.md", "2024-02-11", "# Plan\n\nDone.\n", "commit") in middle
    assert [row[3] for row in journal(home)].count("first commit") == 2


def test_a_dry_run_counts_and_changes_nothing(home):
    done = import_git(home, NOW, is_dry=True)

    assert done.versions == 4
    assert journal(home) == []


def test_notes_that_are_gone_uncommitted_do_not_look_like_a_mass_loss(home, vault):
    (vault.root / "Plan.md").unlink()
    put(vault.root, "Other.md", "# Other\n")

    import_git(home, NOW)
    look_at(home, NOW + dt.timedelta(hours=1))

    assert journal(home)[-1][:3] == ("Plan.md", "2026-01-02", None)


def test_an_import_that_is_cut_off_goes_on_where_it_was(home, monkeypatch):
    whole = History.append
    monkeypatch.setattr(
        History, "append", lambda self, key, rows: whole(self, key, rows) if key == ROOT else 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        import_git(home, NOW)
    monkeypatch.undo()

    import_git(home, NOW)

    assert len(journal(home)) == 4
    assert len(journal(home, "Work")) == 1


# ---- nothing that a repository configures is started


CANARY = "#!/bin/sh\ntouch {mark}\ncat\n"


def test_nothing_that_the_repository_configures_is_started(home, vault, tmp_path):
    mark, script = tmp_path / "started", tmp_path / "script.sh"
    script.write_text(CANARY.format(mark=mark))
    script.chmod(0o755)
    _sign_last_commit(vault.root)
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "gpg.program",
        "diff.external", "diff.md.textconv", "diff.md.command", "core.alternateRefsCommand",
        "filter.x.smudge", "filter.x.clean", "pager.log", "credential.helper",
    ):  # fmt: skip
        git(vault.root, "config", key, str(script))
    git(vault.root, "config", "log.showSignature", "true")
    git(vault.root, "config", "core.hooksPath", str(tmp_path))
    put(vault.root, ".gitattributes", "*.md diff=md filter=x\n")
    mark.unlink(missing_ok=True)

    import_git(home, NOW)

    assert not mark.exists()
    git(vault.root, "log")  # the trap works: git alone would have started it
    assert mark.exists()


def _sign_last_commit(root: Path) -> None:
    """Give the last commit a signature, so that git would have something to check."""
    text = git(root, "cat-file", "commit", "HEAD")
    head, _, message = text.partition("\n\n")
    mark = "gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----"
    signed = f"{head}\n{mark}\n\n{message}"
    done = subprocess.run(
        [GIT, "-C", str(root), "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        input=signed, capture_output=True, text=True, check=True,
    )  # fmt: skip
    git(root, "reset", "-q", "--soft", done.stdout.strip())


def test_a_partial_clone_fetches_nothing_and_says_what_is_missing(tmp_path, vault):
    git(vault.root, "config", "uploadpack.allowFilter", "true")
    git(
        tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout",
        f"file://{vault.root}", "partial",
    )  # fmt: skip
    put(tmp_path / "partial", "Plan.md", "# Plan\n")
    home = open_home(tmp_path / "home", tmp_path / "partial")
    objects = sorted((tmp_path / "partial/.git/objects").rglob("*"))

    with pytest.raises(VaultError, match="partial clone"):
        import_git(home, NOW)

    assert sorted((tmp_path / "partial/.git/objects").rglob("*")) == objects


def test_the_repository_is_not_written_to(home, vault):
    before = {path: path.stat().st_mtime_ns for path in (vault.root / ".git").rglob("*")}

    import_git(home, NOW)

    assert {path: path.stat().st_mtime_ns for path in (vault.root / ".git").rglob("*")} == before


# ---- the command


def run(home, *arguments):
    from kb_serve.commands.history import command

    return CliRunner().invoke(command, ["import", *arguments, "--home", str(home.root)])


def test_the_command_says_what_came_in(home, monkeypatch):
    monkeypatch.chdir(home.root)

    dry, done, again = run(home, "--dry-run"), run(home), run(home)

    assert dry.output == "Would import 4 versions of 3 notes, 2024-01-10 to 2024-03-12.\n"
    assert (
        done.output == "Imported 4 versions of 3 notes, 2024-01-10 to 2024-03-12. Run `kb build`.\n"
    )
    assert again.output == "Nothing new in git (5 versions known).\n"


def test_no_repository_no_git_and_no_date_are_said(tmp_path, monkeypatch, home):
    plain = tmp_path / "plain"
    put(plain, "A.md", "# A\n")
    with pytest.raises(VaultError, match="not inside a git repository"):
        GitRepository(plain)
    monkeypatch.chdir(home.root)
    assert "is no date" in str(run(home, "--since", "soon").exception)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(VaultError, match="git is not installed"):
        GitRepository(plain)


def test_a_repository_without_a_commit_has_no_history(tmp_path):
    vault = Repository(tmp_path / "vault")
    put(vault.root, "A.md", "# A\n")

    assert import_git(open_home(tmp_path / "home", vault.root), NOW).versions == 0


# ---- any history

paths = st.sampled_from(["a.md", "A/b.md", "A/c.md", "x.png", ".h/d.md"])
changes = st.builds(
    lambda path, blob, is_new: Change(path.encode(), blob, is_new),
    paths,
    st.sampled_from(["", "1", "2"]),
    st.booleans(),
)
commits = st.lists(
    st.builds(
        Commit,
        st.integers(-1, 2_000_000_000),
        st.booleans(),
        st.lists(changes, max_size=3, unique_by=lambda change: change.raw_path).map(tuple),
    ),
    max_size=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(commits)
def test_each_note_ends_as_its_last_commit_left_it_and_time_never_goes_back(history):
    found = list(steps(history, VaultSettings(), NOW))

    want: dict[str, str] = {}
    for commit in history:
        for change in commit.changes:
            want[change.raw_path.decode()] = change.blob
    last = {step.note_id: step.blob for step in found}
    for note in ("a.md", "A/b.md", "A/c.md"):
        assert last.get(note, "") == want.get(note, "")
    assert not {"x.png", ".h/d.md"} & set(last)
    assert [step.at for step in found] == sorted(step.at for step in found)
    assert len({(step.note_id, step.at) for step in found}) == len(found)
    for note in last:
        own = [step for step in found if step.note_id == note]
        assert [step.is_first for step in own] == [True] + [False] * (len(own) - 1)
        assert all(one.blob != two.blob for one, two in itertools.pairwise(own))


def test_a_listing_that_reads_again_what_it_read_adds_no_version(home):
    look_at(home, NOW)
    before = journal(home)
    look(home, ROOT, NOW)

    assert journal(home) == before
