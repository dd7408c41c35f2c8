"""How the board is shown: text stays text, nothing loads from elsewhere, one mark for trouble."""

import asyncio
import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from kb_assets.build.publish import Verdict
from kb_core.errors import HomeError
from kb_serve.board.charts import line
from kb_serve.board.data import Scored
from kb_serve.board.page import make_board, render
from kb_serve.board.runs import LastRun
from kb_serve.board.templates import HEADERS
from kb_serve.definitions import make_definitions
from tests.boards import BUILD, NOW, OTHER, board, folder


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


HOSTILE = "<script>x</script> \u202e\x1b[31m {{ 7*7 }} \"'&"


def hostile_board():
    run = LastRun("../x?<b>", "failed", 0.0, f"`{HOSTILE}` failed: {HOSTILE}")
    scores = [Scored(NOW.isoformat(), HOSTILE, {"recall_at_10_whole": 0.5, "questions": 2})]
    return board(
        folder(HOSTILE, run=run, scores=scores, waiting=1, partition=HOSTILE),
        folder(HOSTILE, run=run),
        root=HOSTILE,
        vault=HOSTILE,
        verdict=Verdict(OTHER, problems=(HOSTILE,), answers=BUILD),
        report={"evaluation": {"headline": HOSTILE}},
        scores=(Scored(NOW.isoformat(), HOSTILE, {"recall_at_10": 0.5}),) * 3,
    )


def test_hostile_names_stay_text_and_are_made_visible():
    page = render(hostile_board(), NOW)
    found = Elements(page)

    assert "script" not in found.tags
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "\\x202e" in page
    assert "{{ 7*7 }}" in page  # shown, not evaluated
    assert not [name for name, _ in found.attributes if name == "style" or name.startswith("on")]
    targets = [value for name, value in found.attributes if name in ("href", "src")]
    assert targets
    assert all(value.startswith(("/", "#")) and "<" not in value for value in targets)


@given(st.text(max_size=40))
def test_no_folder_name_adds_an_element(name):
    plain = Elements(render(board(folder("x")), NOW)).tags

    assert Elements(render(board(folder(name)), NOW)).tags == plain


def test_only_what_needs_somebody_is_marked():
    quiet = render(board(), NOW)
    loud = render(board(folder(failed=2)), NOW)

    assert "alert" not in quiet
    assert re.search(r'class="n alert"[^>]*>2<', loud)


def test_the_page_is_served_without_any_script_and_loads_nothing_from_elsewhere():
    served = asyncio.run(_get(make_board(board), "/board"))
    style = asyncio.run(_get(make_board(board), "/board/style.css"))

    assert served[0]["status"] == style[0]["status"] == 200
    assert (b"content-security-policy", HEADERS["content-security-policy"].encode()) in served[0][
        "headers"
    ]
    assert "script" not in Elements(served[1]["body"].decode()).tags
    assert b"url(" not in style[1]["body"]
    assert b"@import" not in style[1]["body"]


def test_a_damaged_home_is_told_in_words():
    def broken():
        raise HomeError("data/home.json is damaged. Restore it.")

    start, body = asyncio.run(_get(make_board(broken), "/board"))

    assert start["status"] == 500
    assert b"data/home.json is damaged. Restore it." in body["body"]


async def _get(app, path):
    sent, asked = [], [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive():
        return asked.pop() if asked else await asyncio.Future()  # the reader stays

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [],
    }
    await app(scope, receive, send)
    return sent[0], {"body": b"".join(message.get("body", b"") for message in sent)}


# --- lines


def test_a_line_stands_between_bottom_and_top_with_the_newest_at_the_right():
    drawn = line("mrr", [0.0, None, 1.0], 100, 20)

    assert [(p.x, p.y, p.index) for p in drawn.points] == [(0, 20, 0), (100, 0, 2)]
    assert drawn.path == "0,20 100,0"
    assert line("mrr", [0.5], 100, 20).path == "100,10"
    assert line("mrr", [None], 100, 20) is None


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=1))
def test_no_line_leaves_its_drawing(values):
    drawn = line("x", values, 100, 20)

    points = drawn.points if drawn else ()
    assert all(0 <= p.x <= 100 and 0 <= p.y <= 20 for p in points)
    assert [p.x for p in points] == sorted(p.x for p in points)
    assert len(points) == sum(value is not None for value in values)


# --- what the page says of assets, jobs and sensors


def test_every_asset_says_what_it_is_and_what_comes_next_and_every_group_leads_to_the_board():
    linked = {}
    for asset in make_definitions().resolve_asset_graph().assets_defs:
        for key in asset.keys:
            text = asset.descriptions_by_key[key]
            first, _, rest = text.partition("\n\n")
            assert first.count(".") == 1, key  # one sentence
            assert rest.startswith("Next: "), key
            group = asset.group_names_by_key[key]
            linked[group] = linked.get(group, False) or "](/board)" in text

    assert all(linked.values())


def test_every_job_and_sensor_says_what_it_does():
    definitions = make_definitions()

    assert all(job.description for job in definitions.jobs)
    assert all(sensor.description for sensor in definitions.sensors)
