"""Everybody can use the console: what axe checks, the keyboard, small windows, and times in the reader's zone."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
from console_browser import NEEDS, errors_of, served, text_of, use_theme
from console_paths import PATHS
from console_people import PASSWORD
from console_world import fill
from psycopg.conninfo import make_conninfo
from support import Db, one

from howdah.console import app

pytestmark = NEEDS

CHECK = "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(done);"
TOO_WIDE = "const page = document.documentElement; return page.scrollWidth - page.clientWidth"


def paths(db: Db) -> list[str]:
    """Every page with something on it, and some with nothing."""
    live = one(db, "select message_id from howdah.browse('orders', 1)")
    dead = one(db, "select message_id from howdah.list_poison('orders.dead', max_rows => 1)")
    pages = [path.replace("{id}", str(live)) for path in PATHS]
    more = (f"/message?queue=orders.dead&id={dead}", "/dead?queue=orders.dead", "/queues?like=none", "/queue?name=none")
    return [*pages, *more]


def resize(browser: Any, width: int) -> None:
    """Look through a window so wide."""
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@pytest.mark.parametrize("width", [320, 1024, 1600])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_to_mend_on_any_page_and_none_is_wider_than_its_window(
    browser: Any, dsn: str, people: None, db: Db, theme: str, width: int
) -> None:
    pytest.importorskip("axe_core_python")
    axe = (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    fill(dsn, 60)
    use_theme(browser, theme)
    resize(browser, width)
    found = []
    # WebDriver's scripts run beside the page's policy, which stays as strict as ever.
    with served(app(make_conninfo(dsn, user="console_operator", password=PASSWORD))) as address:
        for path in paths(db):
            browser.get(address + path)
            assert browser.execute_script(TOO_WIDE) == 0, path
            result = browser.execute_async_script(axe + CHECK)
            assert len(result["passes"]) > 10, path
            found += [(path, one["id"], [node["html"] for node in one["nodes"]]) for one in result["violations"]]
    assert not found


def test_no_page_is_wider_than_a_window_of_320_pixels(browser: Any, dsn: str, people: None, db: Db) -> None:
    fill(dsn, 60)
    resize(browser, 320)
    with served(app(make_conninfo(dsn, user="console_operator", password=PASSWORD))) as address:
        for path in paths(db):
            browser.get(address + path)
            assert browser.execute_script(TOO_WIDE) == 0, path


def test_times_are_in_the_readers_zone_with_the_servers_on_hover(
    browser: Any, dsn: str, people: None, db: Db, orders: int
) -> None:
    browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
    sent = one(db, "select sent_at from howdah.browse('orders')")
    with served(app(make_conninfo(dsn, user="console_browser", password=PASSWORD))) as address:
        browser.get(f"{address}/message?queue=orders&id={orders}")
        time = browser.find_element("css selector", "dd time")
        there = "return new Date(arguments[0]).toLocaleString(undefined, {timeZone: 'Asia/Tokyo'})"
        assert time.text == browser.execute_script(there, sent.isoformat())
        assert time.get_attribute("title").startswith(f"{sent:%Y-%m-%d %H:%M:%S}")


def test_the_keyboard_reaches_the_content_and_shows_where_it_is(
    browser: Any, dsn: str, people: None, orders: int
) -> None:
    with served(app(make_conninfo(dsn, user="console_browser", password=PASSWORD))) as address:
        browser.get(f"{address}/queues")
        browser.find_element("tag name", "body").send_keys("\ue004")
        focused = browser.switch_to.active_element
        assert focused.text == "Skip to the content"
        assert focused.value_of_css_property("outline-style") == "solid"
        focused.send_keys("\ue007")
        assert browser.current_url.endswith("#main")
        browser.find_element("tag name", "body").send_keys("/")
        assert browser.switch_to.active_element.get_attribute("id") == "q"
        browser.switch_to.active_element.send_keys("orders\n")
        browser.find_element("xpath", "//h1[contains(., 'orders')]")
        assert "Purge" not in text_of(browser)
        assert not errors_of(browser)
