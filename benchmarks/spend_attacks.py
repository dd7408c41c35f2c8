"""Whether the form by which money is allowed can be sent by anybody but the page's own reader.

Attacks a page with two plans that wait: other pages, forged and borrowed forms, odd requests. An
attack is refused when it is answered by an error of the 4xx kind or not at all, and at the end
nothing may have been decided. Then one plan is declined as a browser does it: that counts once.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlencode

from benchmarks.page_requests import JSON, Headers, fetch, plain, request_bytes, status_of
from benchmarks.report import progress

_EVIL = "http://evil.example"
_FORM = ("Content-Type", "application/x-www-form-urlencoded")
_PLAN = re.compile(r"/board/spend/([0-9a-f]{32})")
_FIELD = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')

Fields = Mapping[str, str]


def spend_figures(port: int, decided: Callable[[], int]) -> dict[str, int]:
    """Attack the page on this port; `decided` counts the home's decisions. 1 = as it should be."""
    before = decided()
    plans = waiting_plans(port)
    figures: dict[str, int] = {}
    for name, status in _attacks(port, *plans[:2]):
        figures[f"spend_{name}_refused"] = int(status == 0 or 400 <= status < 500)
        progress(f"{name}: {status or 'no answer'}")
    figures["spend_refused_all"] = int(all(figures.values()))
    figures["decisions_made"] = decided() - before
    return figures | _uses(port, plans[0], decided)


def waiting_plans(port: int) -> list[str]:
    """Return the plans that the board offers to decide on."""
    page = fetch(port, "/board").decode("utf-8", "replace")
    return sorted(set(_PLAN.findall(page)))


def forms_of(page: str) -> dict[str, Fields]:
    """Return the fields of each form of a plan's page, by decision."""
    fields = _FIELD.findall(page)
    forms = [dict(fields[at : at + 3]) for at in range(0, len(fields), 3)]
    return {form["decision"]: form for form in forms}


def _forms(port: int, plan: str) -> dict[str, Fields]:
    return forms_of(fetch(port, f"/board/spend/{plan}").decode("utf-8", "replace"))


def _attacks(port: int, plan: str, other: str) -> Iterator[tuple[str, int]]:
    """Send each attack; yield its name and the status it is answered with, 0 for none."""
    form = _forms(port, plan)["approve"]
    yield from _by_another_page(port, plan, form)
    yield from _by_fields(port, plan, form, _forms(port, other)["approve"])
    yield from _by_shape(port, plan, form)
    yield from _by_path(port, plan, form)


def _by_another_page(port: int, plan: str, form: Fields) -> Iterator[tuple[str, int]]:
    """Send the right form, as if another page had got hold of it."""
    own = ("Origin", _own(port))
    cases: dict[str, Headers] = {
        "foreign_origin": (("Origin", _EVIL),),
        "null_origin": (("Origin", "null"),),
        "no_origin": (),
        "origin_twice": (own, ("Origin", _EVIL)),
        "same_origin_twice": (own, own),
        "origin_other_name": (("Origin", f"http://localhost:{port}"),),
        "fetch_cross_site": (own, ("Sec-Fetch-Site", "cross-site")),
        "fetch_same_site": (own, ("Sec-Fetch-Site", "same-site")),
        "fetch_none": (own, ("Sec-Fetch-Site", "none")),
    }
    for name, headers in cases.items():
        yield name, _send(port, plan, form, *headers)
    rebound = f"evil.example:{port}"
    headers = (("Host", rebound), _FORM, ("Origin", f"http://{rebound}"))
    yield (
        "dns_rebinding",
        status_of(port, request_bytes("POST", f"/board/spend/{plan}", headers, _body(form))),
    )


def _by_fields(port: int, plan: str, form: Fields, others: Fields) -> Iterator[tuple[str, int]]:
    """Send from the page's own address what it did not show."""
    own = ("Origin", _own(port))
    until, _, mark = form["seal"].partition("-")
    changed: dict[str, Fields] = {
        "no_seal": {"seal": ""},
        "made_up_seal": {"seal": f"{until}-{'0' * 64}"},
        "later_seal": {"seal": f"{int(until) + 3600}-{mark}"},
        "seal_of_another_plan": {"seal": others["seal"]},
        "form_of_another_plan": others,
        "seal_for_another_ceiling": {"ceiling": "100000000000"},
        "ceiling_with_zeros": {"ceiling": f"0{form['ceiling']}"},
        "seal_of_another_decision": {"decision": "decline"},
        "made_up_decision": {"decision": "approved"},
        "one_field_more": {"plan": plan},
    }
    for name, fields in changed.items():
        yield name, _send(port, plan, {**form, **fields}, own)
    body = _body(form) + b"&ceiling=100000000000"
    yield "ceiling_twice", _post(port, f"/board/spend/{plan}", body, _FORM, own)
    gone = plan[::-1]
    yield "plan_that_does_not_wait", _send(port, gone, form, own)


def _by_shape(port: int, plan: str, form: Fields) -> Iterator[tuple[str, int]]:
    where, own, body = f"/board/spend/{plan}", ("Origin", _own(port)), _body(form)
    for name, kind in {
        "text_plain": "text/plain",
        "multipart": "multipart/form-data; boundary=x",
        "json": "application/json",
        "form_with_charset": f"{_FORM[1]}; charset=utf-8",
        "two_types_in_one": f"{_FORM[1]}, text/plain",
    }.items():
        yield name, _post(port, where, body, ("Content-Type", kind), own)
    yield "no_type", _post(port, where, body, own)
    yield "type_twice", _post(port, where, body, _FORM, JSON, own)
    yield "oversized", _post(port, where, body + b"&x=" + b"x" * 5_000, _FORM, own)
    host = ("Host", f"127.0.0.1:{port}")
    chunked = request_bytes("POST", where, (host, _FORM, own, ("Transfer-Encoding", "chunked")))
    chunked += f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
    yield "in_chunks", status_of(port, chunked)
    yield "by_get", plain(port, "GET", f"{where}?{body.decode()}", own)
    yield "by_get_with_body", plain(port, "GET", where, _FORM, own, body=body)
    yield "in_the_address", plain(port, "POST", f"{where}?{body.decode()}", _FORM, own)
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS"):
        yield f"by_{method.lower()}", plain(port, method, where, _FORM, own, body=body)


def _by_path(port: int, plan: str, form: Fields) -> Iterator[tuple[str, int]]:
    paths = {
        "trailing_slash": f"/board/spend/{plan}/",
        "two_slashes": f"//board/spend/{plan}",
        "slash_inside": f"/board//spend/{plan}",
        "upper_case": f"/board/spend/{plan.upper()}x",
        "dots": f"/board/spend/../spend/{plan}",
        "encoded_dots": f"/board/spend/%2e%2e/spend/{plan}",
        "encoded_slash": f"/board%2fspend/{plan}%2f",
        "line_end": f"/board/spend/{plan}%0a",
        "short": f"/board/spend/{plan[:8]}",
        "no_plan": "/board/spend/",
        "board": "/board",
        "graphql": "/graphql",
    }
    for name, path in paths.items():
        yield f"path_{name}", _post(port, path, _body(form), _FORM, ("Origin", _own(port)))


def _uses(port: int, plan: str, decided: Callable[[], int]) -> dict[str, int]:
    """Decline a plan as a browser does, and send the same form again."""
    before, form = decided(), _forms(port, plan)["decline"]
    headers = (("Origin", _own(port)), ("Sec-Fetch-Site", "same-origin"))
    first, again = _send(port, plan, form, *headers), _send(port, plan, form, *headers)
    return {
        "own_form_answered": int(first == 303),
        "same_form_again_refused": int(again == 409),
        "own_form_counts_once_answered": int(decided() - before == 1),
    }


def _send(port: int, plan: str, form: Fields, *headers: tuple[str, str]) -> int:
    return _post(port, f"/board/spend/{plan}", _body(form), _FORM, *headers)


def _post(port: int, path: str, body: bytes, *headers: tuple[str, str]) -> int:
    return plain(port, "POST", path, *headers, body=body)


def _body(form: Fields) -> bytes:
    return urlencode(form).encode()


def _own(port: int) -> str:
    return f"http://127.0.0.1:{port}"
