"""Whether the page refuses what another page, or a stranger, could send it: attack by attack.

`python -m benchmarks.page_attacks` makes a small home, starts the real `kb ui` on it and sends
each attack as bytes over a socket, so that nothing tidies it up on the way. An attack is refused
when it is answered by an error of the 4xx kind or not at all; every one that carries a mutation
would add a folder, and at the end none may have appeared. `page_figures(port)` can be pointed at
a page that runs already. The home has plans that wait to be paid for: the form that allows money
is attacked too (benchmarks/spend_attacks.py). Its model's address is one where nobody listens.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.page_requests import (
    JSON,
    Headers,
    environment,
    exchange,
    fetch,
    free_port,
    get,
    plain,
    post,
    post_request,
    query_body,
    request_bytes,
    running_page,
    status_of,
    upgrade,
)
from benchmarks.report import progress, report
from benchmarks.spend_attacks import spend_figures
from resources.paid_store import PaidStore

_MUTATION = (
    'mutation {{ addDynamicPartition(partitionKey: "{name}", partitionsDefName: "folder", '
    'repositorySelector: {{repositoryName: "__repository__", '
    'repositoryLocationName: "knowledge_base"}}) {{ __typename }} }}'
)
_FOLDERS = (
    '{ assetNodeOrError(assetKey: {path: ["notes"]}) { ... on AssetNode { partitionKeys } } }'
)
_SUBSCRIPTION = "subscription { locationStateChangeEvents { event { eventType } } }"
_SENT = ("Work", "Trips")
# Everything waits for somebody's word, and nobody listens where it would be sent.
_SETTINGS = {
    "allow = []": f"allow = {json.dumps(_SENT)}",
    'engine = "rules"': 'engine = "anthropic"',
    'url = ""': 'url = "http://127.0.0.1:9"',
    "auto_approve_usd = 0.50": "auto_approve_usd = 0",
}
_EVIL = "http://evil.example"
_PREFLIGHT: Headers = (
    ("Origin", _EVIL),
    ("Access-Control-Request-Method", "POST"),
    ("Access-Control-Request-Headers", "content-type"),
)


def main() -> int:
    """Run the benchmark."""
    with tempfile.TemporaryDirectory() as scratch:
        home = _make_home(Path(scratch))
        with running_page(home, free_port()) as port:
            figures = page_figures(port) | spend_figures(port, lambda: _decisions(home))
    aims = {name: "== 1" for name in figures if name.endswith(("_refused", "_answered"))}
    aims |= {"folders_added": "== 0", "decisions_made": "== 0"}
    return 0 if report("page_attacks", figures, aims) else 1


def page_figures(port: int) -> dict[str, int]:
    """Attack the page on this port, then use it as a browser does; 1 = as it should be."""
    before = _folders(port)
    figures: dict[str, int] = {}
    for name, status in _attacks(port):
        figures[f"{name}_refused"] = int(status == 0 or 400 <= status < 500)
        progress(f"{name}: {status or 'no answer'}")
    figures["refused_all"] = int(all(figures.values()))
    figures["folders_added"] = len(_folders(port)) - len(before)
    figures |= _uses(port)
    return figures


def _attacks(port: int) -> Iterator[tuple[str, int]]:
    """Send each attack; yield its name and the status it is answered with, 0 for none."""
    yield from _by_address(port)
    yield from _by_another_page(port)
    yield from _by_method(port)
    yield from _by_body(port)
    yield from _by_socket(port)


def _by_address(port: int) -> Iterator[tuple[str, int]]:
    own = f"127.0.0.1:{port}"
    hosts = {
        "foreign_host": "evil.example",
        "foreign_host_own_port": f"evil.example:{port}",
        "host_without_port": "127.0.0.1",
        "host_other_port": f"127.0.0.1:{port + 1}",
        "host_trailing_dot": f"localhost.:{port}",
        "host_user_info": f"user@127.0.0.1:{port}",
        "host_ends_in_foreign_name": f"127.0.0.1.evil.example:{port}",
        "host_any_address": f"0.0.0.0:{port}",
    }
    for name, host in hosts.items():
        yield name, post(port, _mutation(name), host=host)
    rebound = f"evil.example:{port}"
    origin = ("Origin", f"http://{rebound}")
    yield "dns_rebinding", post(port, _mutation("dns_rebinding"), origin, host=rebound)
    yield "dns_rebinding_read", status_of(port, request_bytes("GET", "/", (("Host", rebound),)))
    twice: Headers = (("Host", own), ("Host", "evil.example"))
    yield "host_twice", status_of(port, request_bytes("GET", "/", twice))
    absolute = f"http://evil.example/graphql?query={_mutation('absolute').replace(' ', '%20')}"
    yield "absolute_target", status_of(port, request_bytes("GET", absolute, (("Host", own),)))
    yield "no_host", status_of(port, b"GET / HTTP/1.0\r\n\r\n")
    yield "no_host_http_1_1", status_of(port, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")


def _by_another_page(port: int) -> Iterator[tuple[str, int]]:
    origins = {
        "foreign_origin": _EVIL,
        "null_origin": "null",
        "origin_other_port": f"http://127.0.0.1:{port + 1}",
        "origin_https": f"https://127.0.0.1:{port}",
        "origin_begins_like_own": f"http://127.0.0.1:{port}.evil.example",
    }
    for name, origin in origins.items():
        yield name, post(port, _mutation(name), ("Origin", origin))
    own = ("Origin", f"http://127.0.0.1:{port}")
    yield "origin_twice", post(port, _mutation("origin_twice"), own, ("Origin", _EVIL))
    for site in ("cross-site", "same-site"):
        name = f"fetch_{site.replace('-', '_')}"
        yield name, post(port, _mutation(name), ("Sec-Fetch-Site", site))
    framed: Headers = (
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "iframe"),
    )
    yield "framed", get(port, "/", *framed)
    yield "fetched_by_another_page", get(port, "/logs/x", ("Sec-Fetch-Site", "cross-site"))
    yield "preflight", plain(port, "OPTIONS", "/graphql", *_PREFLIGHT)


def _by_method(port: int) -> Iterator[tuple[str, int]]:
    mutation = _mutation("get_mutation").replace(" ", "%20").replace('"', "%22")
    yield "get_mutation", get(port, f"/graphql?query={mutation}")
    yield "get_query", get(port, "/graphql?query=%7Bversion%7D")
    yield "get_query_encoded_path", get(port, "/graph%71l?query=%7Bversion%7D")
    yield "get_query_other_path", get(port, "/x?query=%7Bversion%7D")
    yield "get_playground", get(port, "/graphql", ("Accept", "text/html"))
    yield "head_graphql", plain(port, "HEAD", "/graphql?query=%7Bversion%7D")
    for method in ("PUT", "DELETE", "PATCH", "TRACE"):
        yield f"{method.lower()}_graphql", plain(port, method, "/graphql", JSON)
    for kind in ("materialization", "check", "observation"):
        path = f"/report_asset_{kind}/notes?partition=x"
        yield f"report_asset_{kind}", plain(port, "POST", path, JSON, body=b"{}")
    yield "post_elsewhere", plain(port, "POST", "/", JSON, body=b"{}")
    yield "notebook", get(port, "/notebook?path=x.ipynb&repoLocName=knowledge_base")


def _by_body(port: int) -> Iterator[tuple[str, int]]:
    kinds = {
        "text_plain_post": "text/plain",
        "form_post": "application/x-www-form-urlencoded",
        "multipart_post": "multipart/form-data; boundary=x",
        "graphql_type_post": "application/graphql",
        "two_types_in_one": "text/plain; application/json",
    }
    for name, kind in kinds.items():
        body = query_body(_mutation(name))
        yield name, plain(port, "POST", "/graphql", ("Content-Type", kind), body=body)
    body = query_body(_mutation("no_type_post"))
    yield "no_type_post", plain(port, "POST", "/graphql", body=body)
    other = ("Content-Type", "text/plain")
    body = query_body(_mutation("type_twice"))
    yield "type_twice", plain(port, "POST", "/graphql", other, JSON, body=body)
    yield "huge_body", post(port, "x" * 8_000_000)
    chunked: Headers = (JSON, ("Transfer-Encoding", "chunked"))
    chunks = (b"f4240\r\n" + b"x" * 1_000_000 + b"\r\n") * 8 + b"0\r\n\r\n"
    head = request_bytes("POST", "/graphql", (("Host", f"127.0.0.1:{port}"), *chunked))
    yield "huge_body_in_chunks", status_of(port, head + chunks)
    yield "get_with_body", plain(port, "GET", "/", body=b"{}")


def _by_socket(port: int) -> Iterator[tuple[str, int]]:
    yield "socket_foreign_origin", upgrade(port, ("Origin", _EVIL))
    yield "socket_null_origin", upgrade(port, ("Origin", "null"))
    yield "socket_without_origin", upgrade(port)
    rebound = f"evil.example:{port}"
    origin = ("Origin", f"http://{rebound}")
    yield "socket_dns_rebinding", upgrade(port, origin, host=rebound)


def _uses(port: int) -> dict[str, int]:
    """Use the page as a browser, and as a tool of this machine, does."""
    own = ("Origin", f"http://127.0.0.1:{port}")
    site = ("Sec-Fetch-Site", "same-origin")
    local = f"localhost:{port}"
    followed: Headers = (
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
    )
    page, board = fetch(port, "/"), fetch(port, "/board")
    return {
        "page_answered": int(page.startswith(b"HTTP/1.1 200")),
        "board_answered": int(board.startswith(b"HTTP/1.1 200")),
        "framing_headers_answered": int(all(_cannot_be_framed(each) for each in (page, board))),
        "same_origin_mutation_answered": int(_adds_a_folder(port)),
        "same_origin_query_answered": int(post(port, "{version}", own, site) == 200),
        "localhost_query_answered": int(
            post(port, "{version}", ("Origin", f"http://{local}"), host=local) == 200
        ),
        "tool_query_answered": int(post(port, "{version}") == 200),
        "followed_link_answered": int(get(port, "/runs", *followed) == 200),
        "same_origin_socket_answered": int(_subscribes(port)),
    }


def _adds_a_folder(port: int) -> bool:
    """Tell whether the attacks' mutation works when the page itself sends it."""
    own = ("Origin", f"http://127.0.0.1:{port}")
    return post(port, _mutation("own"), own) == 200 and "own" in _folders(port)


def _cannot_be_framed(answer: bytes) -> bool:
    head = answer.partition(b"\r\n\r\n")[0].lower()
    return b"frame-ancestors 'none'" in head and b"x-frame-options: deny" in head


def _subscribes(port: int) -> bool:
    from websockets.sync.client import connect

    where = f"ws://127.0.0.1:{port}/graphql"
    origin = f"http://127.0.0.1:{port}"
    with connect(where, origin=origin, subprotocols=["graphql-ws"]) as client:  # type: ignore
        client.send(json.dumps({"type": "connection_init"}))
        is_open: bool = json.loads(client.recv(10))["type"] == "connection_ack"
        query = {"query": _SUBSCRIPTION, "variables": {}}
        client.send(json.dumps({"type": "start", "id": "1", "payload": query}))
        try:
            return is_open and json.loads(client.recv(1))["type"] == "data"
        except TimeoutError:  # nothing changed within a second, and nothing was refused
            return is_open


def _folders(port: int) -> list[str]:
    said = exchange(port, post_request(port, _FOLDERS, (), f"127.0.0.1:{port}"))
    values = json.loads(said.partition(b"\r\n\r\n")[2])
    names: list[str] = values["data"]["assetNodeOrError"]["partitionKeys"]
    return names


def _mutation(name: str) -> str:
    """Return a mutation that would leave a folder of this name behind."""
    return _MUTATION.format(name=name)


def _decisions(home: Path) -> int:
    with PaidStore(home / "data" / "cache" / "paid.sqlite") as store:
        return len(store.decisions())


def _make_home(scratch: Path) -> Path:
    vault, home = scratch / "vault", scratch / "home"
    for folder in _SENT:
        (vault / folder).mkdir(parents=True)
        text = f"# Plan of {folder}\n\nThe pier is built in autumn.\n"
        (vault / folder / "Plan.md").write_text(text)
    _run("init", str(vault), "--home", str(home))
    settings = (home / "kb.toml").read_text()
    for default, own in _SETTINGS.items():
        settings = settings.replace(f"\n{default}\n", f"\n{own}\n", 1)
    (home / "kb.toml").write_text(settings)
    _run("build", "--home", str(home))
    return home


def _run(*arguments: str) -> None:
    command = [sys.executable, "-m", "kb_serve.cli", *arguments]
    subprocess.run(command, env=environment(), check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
