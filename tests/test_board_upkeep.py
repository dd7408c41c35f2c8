"""The board's part on links and names: counts first, names folded away, made anew when needed."""

from html.parser import HTMLParser

import pytest

from kb_serve.board.data import gather
from kb_serve.board.page import render
from kb_serve.board.upkeep import Upkeep, upkeep_of
from kb_serve.reports.catalogue import OF_NOTES
from kb_serve.reports.of_notes import DANGLING, DUPLICATES
from kb_serve.reports.section import Section
from tests.boards import NOW, board
from tests.built_home import build, open_home
from tests.small_vault import put

HOSTILE = "<script>x</script> \u202e\x1b {{ 7*7 }} \"'&"


class Inside(HTMLParser):
    """Which elements there are, and what of the text stands inside `details`."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.folded, self.open = [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, _attrs):
        self.tags.append(tag)
        self.open += tag == "details"

    def handle_endtag(self, tag):
        self.open -= tag == "details"

    def handle_data(self, data):
        if self.open:
            self.folded.append(data)


def dangling(target, links=1):
    row = {"target": target, "links": links, "notes": 1, "sources": [f"{target}.md"]}
    return {**row, "perhaps": "", "swapped": 0}


@pytest.fixture
def home(tmp_path):
    put(tmp_path / "vault", "Hub.md", "[[Gone]]\n")
    home = open_home(tmp_path / "home", tmp_path / "vault")
    build(home, with_vectors=False)
    return home


def test_ten_rows_are_shown_folded_and_where_the_rest_is():
    rows = [dangling(f"Missing {number:02}") for number in range(12)]

    page = render(board(upkeep=Upkeep([Section(DANGLING, rows)])), NOW)

    folded = " ".join(Inside(page).folded)
    assert "12" in folded
    assert "Missing 09" in folded
    assert "Missing 10" not in page
    assert "2 more:" in folded
    assert "kb check --only dangling" in folded
    assert page.count("Missing 05") == folded.count("Missing 05") > 0  # nowhere else


def test_what_found_nothing_is_one_quiet_sentence_and_what_was_left_out_is_said():
    upkeep = Upkeep([Section(DANGLING, [])], [DUPLICATES])

    page = render(board(upkeep=upkeep), NOW)

    assert "None: links to notes that do not exist." in page
    assert "kb check --only duplicates" in page
    assert "details" not in Inside(page).tags


def test_names_of_notes_stay_text():
    rows = [dangling(HOSTILE, 2)]
    plain = Inside(render(board(upkeep=Upkeep([Section(DANGLING, [dangling("x", 2)])])), NOW))

    page = render(board(upkeep=Upkeep([Section(DANGLING, rows)])), NOW)

    assert Inside(page).tags == plain.tags
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "{{ 7*7 }}" in page


def test_the_board_finds_what_kb_check_finds_and_again_only_when_the_tables_changed(home):
    first = gather(home, {}, None).upkeep
    again = upkeep_of(home)
    put(home.vault_path, "Gone.md", "[[Hub]]\n")
    build(home, with_vectors=False)
    after = upkeep_of(home)

    assert [section.kind for section in first.sections] == list(OF_NOTES)
    assert [section.kind.name for section in first.found] == ["dangling", "orphans"]
    assert again.sections is first.sections
    assert after.found == []


def test_a_large_vault_is_not_read_through_for_a_page(home, monkeypatch):
    monkeypatch.setattr("kb_serve.board.upkeep._MOST_BYTES", 3)

    upkeep = upkeep_of(home)

    assert upkeep.left_out == [DUPLICATES]
    assert DUPLICATES not in [section.kind for section in upkeep.sections]


def test_before_links_were_resolved_the_part_is_absent(tmp_path):
    put(tmp_path / "vault", "A.md", "x")
    home = open_home(tmp_path / "home", tmp_path / "vault")

    assert upkeep_of(home) == Upkeep()
    assert "Links and names" not in render(gather(home, {}, None), NOW)
