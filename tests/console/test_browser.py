"""The console in a real browser, where Debian's chromium and Selenium are there."""

from __future__ import annotations

from typing import Any

import pytest
from console_browser import NEEDS, served
from console_people import PASSWORD
from psycopg.conninfo import make_conninfo
from support import Db, deliver_and_fail, one, wait_until

from howdah.console import app
from howdah.console.live import Views
from howdah.console.pages import queues

pytestmark = NEEDS


def test_an_operator_finds_why_messages_fail_and_replays_them(
    browser: Any, dsn: str, people: None, db: Db, orders: int
) -> None:
    deliver_and_fail(db, "orders", error_class="Timeout", error_text="<script>document.title='x'</script>")
    operator = make_conninfo(dsn, user="console_operator", password=PASSWORD)
    with served(app(operator, live_seconds=0.1)) as address:
        browser.get(address)
        browser.find_element("xpath", "//h1[.='Overview']")
        for width in (320, 800, 1600):
            browser.set_window_size(width, 900)
            browser.get(address)
            assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
        wait_until(lambda: "nobody has counted" in browser.find_element("id", "age").text)
        one(db, "select howdah.maintain_backlog()")
        wait_until(lambda: "s ago" in browser.find_element("id", "age").text)
        one(db, "select howdah.send('orders', 'more'::text)")
        one(db, "select howdah.maintain_backlog()")
        wait_until(lambda: browser.find_element("css selector", "[data-total=live]").text != "0")
        browser.find_element("link text", "Failures").click()
        browser.find_element("css selector", "td a[href*=fingerprint]").click()
        browser.find_element("css selector", "td a[href*='act=replay']").click()
        assert "1 messages" in browser.find_element("class name", "preview").text
        browser.find_element("name", "reason").send_keys("the shop is back")
        browser.find_element("css selector", "main form button").click()
        browser.find_element("xpath", "//h1[contains(., 'done')]")
        assert one(db, "select count(*)::int from howdah.browse('orders')") == 2
        assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]


def rows_of(browser: Any) -> list[str]:
    """The queues on the overview, in their order."""
    found: list[str] = browser.execute_script(
        "return [...document.querySelectorAll('[data-busiest] tbody tr')].map((row) => row.dataset.queue)"
    )
    return found


def test_an_open_overview_shows_a_queue_that_became_busy_later(
    browser: Any, dsn: str, people: None, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "BUSIEST", 3)
    monkeypatch.setattr(Views.__init__, "__defaults__", (0.1,))
    allow = "select howdah.set_rule('default', 'queue', %s, %s, %s, 'user', '{console_browser}')"
    for operation in ("produce", "consume", "browse"):
        one(db, allow, ("*", operation, False))
    for number, name in enumerate(("d", "c", "b")):
        one(db, "select howdah.create_queue(%s)", (name,))
        one(db, "select howdah.send_batch(%s, array_fill('x'::text, array[%s]))", (name, number + 1))
    one(db, "select howdah.maintain_backlog()")
    with served(app(make_conninfo(dsn, user="console_browser", password=PASSWORD), live_seconds=0.1)) as address:
        browser.get(address)
        assert "There is no queue" in browser.find_element("css selector", "[data-busiest] .empty").text
        for name in "abcde":
            one(db, allow, (name, "browse", True))
        one(db, "select howdah.maintain_backlog()")
        wait_until(lambda: rows_of(browser) == ["b", "c", "d"])
        one(db, "select howdah.create_queue('a')")
        one(db, "select howdah.send_batch('a', array_fill('x'::text, array[4]))")
        one(db, "select howdah.maintain_backlog()")
        wait_until(lambda: rows_of(browser)[:2] == ["a", "b"])
        assert len(rows_of(browser)) == 3
        row = browser.find_element("css selector", "tr[data-queue=a]")
        wait_until(lambda: row.find_element("css selector", "[data-figure=live]").text == "4")
        wait_until(lambda: "s ago" in browser.find_element("id", "age").text)
        browser.find_element("id", "pause").click()
        one(db, "select howdah.create_queue('e')")
        one(db, "select howdah.send_batch('e', array_fill('x'::text, array[9]))")
        one(db, "select howdah.maintain_backlog()")
        browser.execute_async_script("setTimeout(arguments[0], 1000)")
        assert "e" not in rows_of(browser)
        browser.find_element("id", "pause").click()
        wait_until(lambda: rows_of(browser)[0] == "e")
        browser.find_element("link text", "e").click()
        browser.find_element("xpath", "//h1[.='Queue e']")
        assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]
