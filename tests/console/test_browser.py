"""The console in a real browser, where Debian's chromium and Selenium are there."""

from __future__ import annotations

from typing import Any

from console_browser import NEEDS, served
from console_people import PASSWORD
from psycopg.conninfo import make_conninfo
from support import Db, deliver_and_fail, one, wait_until

from howdah.console import app

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
