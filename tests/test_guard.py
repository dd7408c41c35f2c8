"""The guard refuses whatever another page could make a browser ask, and answers the page itself."""

import asyncio
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_serve.guard import MAX_BODY_BYTES, MAX_FORM_BYTES, Asked, Guard, judge, own_hosts

HOST = "127.0.0.1:3000"
OWN = "http://127.0.0.1:3000"
JSON = ("content-type", "application/json")
HOSTS = own_hosts(3000)
SPEND = f"/board/spend/{'0a' * 16}"
FORM = ("content-type", "application/x-www-form-urlencoded")
SENT = (FORM, ("content-length", "9"), ("origin", OWN))


def ask(method="GET", path="/", *headers, query="", host=HOST):
    return judge(Asked(method, path, query, (("host", host), *headers)), HOSTS)


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/", ()),
        ("HEAD", "/server_info", ()),
        ("GET", "/runs/1", (("sec-fetch-site", "same-origin"),)),
        ("GET", "/main.js", (("origin", OWN), ("sec-fetch-site", "same-origin"))),
        ("GET", "/", (("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"))),
        ("POST", "/graphql", (JSON, ("origin", OWN), ("sec-fetch-site", "same-origin"))),
        ("POST", "/graphql", (JSON, ("sec-fetch-site", "same-origin"))),
        ("POST", "/graphql", (JSON, ("content-length", str(MAX_BODY_BYTES)))),
        ("WEBSOCKET", "/graphql", (("origin", OWN),)),
    ],
)
def test_the_page_itself_and_tools_of_this_machine_are_answered(method, path, headers):
    assert ask(method, path, *headers) is None


@pytest.mark.parametrize("host", ["127.0.0.1:3000", "localhost:3000", "[::1]:3000"])
def test_each_name_of_this_machine_is_its_own_origin(host):
    assert ask("POST", "/graphql", JSON, ("origin", f"http://{host}"), host=host) is None


def test_one_name_of_this_machine_may_not_ask_under_another():
    # Something else may listen on the same port of another of this machine's addresses.
    assert ask("POST", "/graphql", JSON, ("origin", "http://localhost:3000"))


def test_a_link_on_another_page_may_be_followed_but_not_framed_or_fetched():
    foreign = ("sec-fetch-site", "cross-site")
    followed = (foreign, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"))
    framed = (foreign, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe"))
    fetched = (foreign, ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image"))

    assert ask("GET", "/runs", *followed) is None
    assert ask("GET", "/runs", *framed)
    assert ask("GET", "/logs/x", *fetched)
    assert ask("POST", "/graphql", JSON, *followed)


@pytest.mark.parametrize(
    ("method", "path", "headers", "query"),
    [
        ("GET", "/graphql", (), "query=mutation{x}"),
        ("GET", "/graphql", (), ""),
        ("HEAD", "/graphql", (), "query={version}"),
        ("GET", "/", (), "a=1&Query={version}"),
        ("PUT", "/graphql", (JSON,), ""),
        ("DELETE", "/graphql", (), ""),
        ("OPTIONS", "/graphql", (("origin", OWN), ("access-control-request-method", "POST")), ""),
        ("TRACE", "/", (), ""),
        ("POST", "/", (JSON, ("origin", OWN)), ""),
        ("POST", "/report_asset_materialization/notes", (JSON, ("origin", OWN)), ""),
        ("GET", "/report_asset_check/notes", (), ""),
        ("GET", "/notebook", (), "path=x.ipynb"),
        ("POST", "/graphql", (("origin", OWN),), ""),
        ("POST", "/graphql", (("content-type", "text/plain"),), ""),
        ("POST", "/graphql", (("content-type", "application/json; charset=utf-8"),), ""),
        ("POST", "/graphql", (("content-type", "text/plain, application/json"),), ""),
        ("POST", "/graphql", (JSON, JSON), ""),
        ("POST", "/graphql", (JSON, ("content-length", str(MAX_BODY_BYTES + 1))), ""),
        ("POST", "/graphql", (JSON, ("content-length", "-1")), ""),
        ("POST", "/graphql", (JSON, ("origin", "null")), ""),
        ("POST", "/graphql", (JSON, ("origin", OWN), ("origin", "http://evil.example")), ""),
        ("POST", "/graphql", (JSON, ("sec-fetch-site", "same-site")), ""),
        ("GET", "/", (("content-length", "3"),), ""),
        ("GET", "/", (("transfer-encoding", "chunked"),), ""),
        ("GET", "http://evil.example/graphql", (), ""),
        ("GET", "//evil.example/", (), ""),
        ("WEBSOCKET", "/graphql", (), ""),
        ("WEBSOCKET", "/graphql", (("origin", "http://evil.example"),), ""),
        ("WEBSOCKET", "/board", (("origin", OWN),), ""),
    ],
)
def test_what_another_page_could_send_is_refused(method, path, headers, query):
    refusal = ask(method, path, *headers, query=query)

    assert refusal is not None
    assert 400 <= refusal.status < 500
    assert refusal.why


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:3001",
        "127.0.0.1:3000.evil.example",
        "127.0.0.1.:3000",
        "localhost.:3000",
        "user@127.0.0.1:3000",
        "127.0.0.1:03000",
        "0.0.0.0:3000",
        "127.1:3000",
        "[::ffff:127.0.0.1]:3000",
    ],
)
def test_every_other_host_is_refused(host):
    assert ask(host=host)


def test_two_hosts_or_none_are_refused():
    two = Asked("GET", "/", "", (("host", HOST), ("host", HOST)))

    assert judge(two, HOSTS)
    assert judge(Asked("GET", "/", "", ()), HOSTS)


def test_a_browser_leaves_the_default_port_out():
    assert ask() is None
    assert judge(Asked("GET", "/", "", (("host", "localhost"),)), own_hosts(80)) is None


@given(st.text().filter(lambda text: text not in HOSTS))
def test_no_made_up_host_is_answered(host):
    assert ask(host=host)


@given(st.text().filter(lambda text: text != OWN), st.sampled_from(["GET", "POST", "WEBSOCKET"]))
def test_no_made_up_origin_is_answered(origin, method):
    assert ask(method, "/graphql" if method != "GET" else "/", JSON, ("origin", origin))


@given(st.text().filter(lambda text: text != JSON[1]))
def test_no_other_content_type_is_taken(kind):
    assert ask("POST", "/graphql", ("content-type", kind), ("origin", OWN))


def test_a_form_is_taken_from_the_page_itself_alone_and_only_where_money_is_allowed():
    own = ("sec-fetch-site", "same-origin")

    assert ask("POST", SPEND, *SENT) is None
    assert ask("POST", SPEND, *SENT, own) is None
    assert ask("GET", SPEND) is None
    assert ask("POST", SPEND, FORM, ("content-length", str(MAX_FORM_BYTES)), SENT[2]) is None
    assert ask("POST", "/graphql", *SENT)
    assert ask("POST", "/board", *SENT)


@pytest.mark.parametrize(
    "headers",
    [
        (FORM, SENT[1]),
        (*SENT, SENT[2]),
        (FORM, SENT[1], ("origin", "null")),
        (FORM, SENT[1], ("origin", "http://localhost:3000")),
        (FORM, SENT[1], ("origin", "http://evil.example")),
        (*SENT, ("origin", "http://evil.example")),
        (*SENT, ("sec-fetch-site", "cross-site")),
        (*SENT, ("sec-fetch-site", "same-site")),
        (*SENT, ("sec-fetch-site", "none")),
        (*SENT, ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "same-origin")),
        SENT[1:],
        (JSON, *SENT[1:]),
        (FORM, JSON, *SENT[1:]),
        (("content-type", "text/plain"), *SENT[1:]),
        (("content-type", f"{FORM[1]}; charset=utf-8"), *SENT[1:]),
        (FORM, SENT[2]),
        (FORM, SENT[2], ("content-length", str(MAX_FORM_BYTES + 1))),
        (*SENT, ("content-length", "9")),
        (FORM, SENT[2], ("transfer-encoding", "chunked")),
        (*SENT, ("transfer-encoding", "chunked")),
    ],
)
def test_a_form_that_another_page_could_send_is_refused(headers):
    assert ask("POST", SPEND, *headers)


@pytest.mark.parametrize(
    "path",
    [
        f"{SPEND}/",
        f"{SPEND}0",
        f"{SPEND}\n",
        SPEND[:-1],
        SPEND.upper(),
        SPEND.replace("0a", "0A"),
        SPEND.replace("0a", "\u0660a"),
        f"/board/{SPEND}",
        f"/x{SPEND}",
        f"/board/spend/../spend/{'0a' * 16}",
        "/board/spend/",
        "/board/spend",
    ],
)
def test_no_other_address_takes_a_form(path):
    assert ask("POST", path, *SENT)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_a_plans_page_takes_nothing_from_its_address(method):
    assert ask(method, SPEND, *(SENT if method == "POST" else ()), query="decision=approve")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"])
def test_a_plans_page_is_read_and_answered_and_nothing_else(method):
    assert ask(method, SPEND, *SENT)


class Echo:
    """An application that answers with the body it got, a cookie and an open door."""

    def __init__(self):
        self.bodies = []

    async def __call__(self, scope, receive, send):
        message = await receive()
        self.bodies.append(message["body"])
        headers = [(b"set-cookie", b"a=b"), (b"access-control-allow-origin", b"*")]
        headers += [(b"content-security-policy", b"object-src 'none'")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})


def run(scope, messages):
    """Send messages through a guard; return what it sent back and what the application got."""
    echo, sent, left = Echo(), [], list(messages)

    async def receive():
        return left.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(echo, 3000)(scope, receive, send))
    return sent, echo.bodies


def scope(method="POST", path="/graphql", *headers, kind="http"):
    raw = [(name.encode(), value.encode()) for name, value in (("host", HOST), *headers)]
    return {"type": kind, "method": method, "path": path, "query_string": b"", "headers": raw}


def part(body, more):
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_in_parts_reaches_the_application_whole():
    sent, bodies = run(scope("POST", "/graphql", JSON), [part(b"{", True), part(b"}", False)])

    assert bodies == [b"{}"]
    assert sent[0]["status"] == 200


def test_a_body_that_never_says_its_length_is_cut_off_at_the_most_there_may_be():
    parts = [part(b"x" * (MAX_BODY_BYTES // 2), True)] * 10

    sent, bodies = run(scope("POST", "/graphql", JSON), parts)

    assert sent[0]["status"] == 413
    assert bodies == []


def test_a_form_is_cut_off_sooner():
    asked = scope("POST", SPEND, *SENT)
    most = b"x" * MAX_FORM_BYTES

    sent, bodies = run(asked, [part(most, True), part(b"x", False)])

    assert (sent[0]["status"], bodies) == (413, [])
    assert run(asked, [part(most, False)])[1] == [most]


def test_answers_cannot_be_framed_or_shared_and_set_no_cookie():
    sent, _ = run(scope("POST", "/graphql", JSON), [part(b"{}", False)])
    refused, _ = run(scope("GET", "/graphql"), [])

    for start in (sent[0], refused[0]):
        names = [name.decode() for name, _ in start["headers"]]
        policies = [value for name, value in start["headers"] if name == b"content-security-policy"]
        assert "set-cookie" not in names
        assert "access-control-allow-origin" not in names
        assert (b"x-frame-options", b"DENY") in start["headers"]
        assert b"frame-ancestors 'none'" in policies[-1]
    assert (b"content-security-policy", b"object-src 'none'") in sent[0]["headers"]


def test_a_refused_socket_hears_why_where_the_server_can_say_it():
    plain = scope("GET", "/graphql", kind="websocket")
    told = {**plain, "extensions": {"websocket.http.response": {}}}

    assert run(plain, [])[0] == [{"type": "websocket.close", "code": 1008}]
    start, body = run(told, [])[0]
    assert (start["type"], start["status"]) == ("websocket.http.response.start", 403)
    assert b"origin" in body["body"]


def test_a_refusal_is_logged_without_the_query(caplog):
    asked = {**scope("GET", "/graphql\n\x1b[31m"), "query_string": b"query=Aurora"}

    with caplog.at_level(logging.WARNING, "kb.page"):
        run(asked, [])

    assert "Refused GET /graphql\\x0a\\x1b[31m" in caplog.text
    assert "Aurora" not in caplog.text
