"""An attacker at the console in a real browser: hostile messages, forged forms, false names and guessed passwords."""

from __future__ import annotations

import base64
from typing import Any

from console_browser import NEEDS, errors_of, send_headers, served, text_of
from console_people import PASSWORD
from psycopg.conninfo import make_conninfo
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from support import Db, deliver_and_fail, one

from howdah.console import Basic, Proxy, app

pytestmark = NEEDS

RUN = "<script>window.broken = 1</script><img src=x onerror='window.broken = 1'><svg onload='window.broken = 1'>"
TURNED = "\u202egnp.exe\u2066 \u200f"


def operator(dsn: str) -> str:
    """The DSN of the operator."""
    return make_conninfo(dsn, user="console_operator", password=PASSWORD)


def test_bodies_headers_and_errors_run_nothing_and_turn_no_text_around(
    browser: Any, dsn: str, people: None, db: Db
) -> None:
    one(db, "select howdah.create_queue('orders', '{\"max_failed_deliveries\": 1}')")
    hostile = one(
        db,
        "select howdah.send('orders', %s::text, headers => jsonb_build_object(%s::text, %s::text),"
        " correlation_id => %s, message_type => %s)",
        (RUN + TURNED, "h<b>" + TURNED, RUN, RUN, RUN),
    )
    deliver_and_fail(db, "orders", error_class=RUN, error_text=RUN + TURNED, traceback=RUN + TURNED)
    large = one(db, "select howdah.send('orders', repeat(%s, 10000))", (RUN,))
    broken = one(db, r"select howdah.send('orders', '\xfffe00ff3c7363726970743e'::bytea)")
    dead = one(db, "select exception_queue from howdah.list_poison()")
    places = [f"queue=orders&id={large}", f"queue=orders&id={broken}", f"queue={dead}&id={hostile}"]
    paths = ["/", "/causes", "/dead", "/messages?queue=orders", f"/messages?queue={dead}"]
    with served(app(operator(dsn))) as address:
        for path in [*paths, *(f"/message?{place}" for place in places), f"/messages?queue={RUN}", f"/search?q={RUN}"]:
            browser.get(address + path)
            assert browser.execute_script("return window.broken") is None, path
            assert not browser.execute_script(
                "return document.querySelectorAll('main script, main img, svg[onload]').length"
            )
            assert not set(TURNED) & {"\u202e", "\u2066", "\u200f"} & set(browser.page_source), path
            assert not [error for error in errors_of(browser) if "Security Policy" in error]
        browser.get(f"{address}/message?{places[1]}")
        assert "fffe00ff" in text_of(browser)
        browser.get(f"{address}/message?{places[0]}")
        assert "characters more" in text_of(browser)


def test_a_page_of_another_origin_can_neither_send_a_form_nor_frame_the_console(
    browser: Any, dsn: str, people: None, db: Db, orders: int
) -> None:
    def evil(request: Request) -> HTMLResponse:
        target = request.query_params["of"]
        return HTMLResponse(
            f'<form method="post" action="{target}/act"><input name="act" value="pause"><input name="queue"'
            ' value="orders"><input name="reason" value="r"><input name="token" value="'
            f'{request.query_params["token"]}"></form><iframe src="{target}"></iframe>'
        )

    with served(app(operator(dsn))) as address, served(Starlette(routes=[Route("/", evil)])) as elsewhere:
        browser.get(f"{address}/act?act=pause&queue=orders")
        # Even somebody who has seen a right token.
        token = browser.find_element("name", "token").get_attribute("value")
        browser.get(f"{elsewhere}/?of={address}&token={token}")
        browser.switch_to.frame(browser.find_element("tag name", "iframe"))
        assert "Overview" not in text_of(browser)
        browser.switch_to.default_content()
        browser.execute_script("document.forms[0].submit()")
        browser.find_element("xpath", "//p[contains(., 'another site')]")
        browser.get(f"{address}/queue?name=orders")
        forged = "const done = arguments[0]; fetch('act', {method: 'POST', body: new URLSearchParams({act: 'pause',"
        forged += " queue: 'orders', reason: 'r', token: 'f'.repeat(64)})}).then(answer => done(answer.status))"
        assert browser.execute_async_script(forged) == 403
    assert not one(db, "select sending_paused from howdah.list_queues() where queue = 'orders'")


def test_a_proxys_header_from_elsewhere_and_guessed_passwords_open_nothing(
    browser: Any, dsn: str, login_dsn: str, orders: int
) -> None:
    with served(app(login_dsn, Proxy(["192.0.2.0/24"]))) as address:
        send_headers(browser, X_Forwarded_User="console_operator", X_Forwarded_For="192.0.2.1")
        browser.get(address)
        assert "not trusted to say who you are" in text_of(browser)
    with served(app(dsn, Basic())) as address:
        for guess in range(11):
            given = base64.b64encode(f"console_operator:guess {guess}".encode()).decode()
            send_headers(browser, Authorization=f"Basic {given}")
            browser.get(address)
        assert "Too many failed log-ins" in text_of(browser)
        given = base64.b64encode(f"console_operator:{PASSWORD}".encode()).decode()
        send_headers(browser, Authorization=f"Basic {given}")
        browser.get(address)
        assert "Too many failed log-ins" in text_of(browser)


def test_what_a_rule_hides_never_leaves_the_server(browser: Any, dsn: str, people: None, db: Db) -> None:
    one(db, "select howdah.create_queue('orders')")
    one(db, "select howdah.set_redaction('orders', '$.card')")
    number = one(db, 'select howdah.send(\'orders\', \'{"card": "4000-0002", "item": 7}\'::jsonb)')
    for person in ("browser", "operator"):
        with served(app(make_conninfo(dsn, user=f"console_{person}", password=PASSWORD))) as address:
            for path in (
                f"/message?queue=orders&id={number}",
                "/messages?queue=orders",
                "/messages?queue=orders&body=item",
            ):
                browser.get(address + path)
                assert "item" in text_of(browser)
                assert "4000-0002" not in browser.page_source
            browser.get(f"{address}/messages?queue=orders&body=4000-0002")
            assert "No message here fits" in text_of(browser)
            browser.get(f"{address}/act?act=edit&queue=orders&id={number}")
            assert "4000-0002" not in browser.page_source
