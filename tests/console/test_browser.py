"""The console in a real browser, where Debian's chromium and Selenium are there."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from console_people import PASSWORD
from psycopg.conninfo import make_conninfo
from starlette.applications import Starlette
from support import Db, deliver_and_fail, one, wait_until

from howdah.console import app

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("chromium"), reason="needs Debian's chromium"),
    pytest.mark.skipif(not shutil.which("chromedriver"), reason="needs Debian's chromium-driver"),
    # Selenium leaves its sockets to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@contextmanager
def served(console: Starlette) -> Iterator[str]:
    """The console at an address of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(console, log_level="warning", timeout_graceful_shutdown=1, ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            wait_until(lambda: server.started)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = shutil.which("chromium")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options, service)
    driver.implicitly_wait(20)
    yield driver
    driver.quit()


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
        wait_until(lambda: "s old" in browser.find_element("id", "age").text)
        one(db, "select howdah.send('orders', 'more'::text)")
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


def test_the_slash_goes_to_the_search(browser: Any, dsn: str, people: None, orders: int) -> None:
    operator = make_conninfo(dsn, user="console_browser", password=PASSWORD)
    with served(app(operator)) as address:
        browser.get(f"{address}/queues")
        browser.find_element("tag name", "body").send_keys("/")
        assert browser.switch_to.active_element.get_attribute("id") == "q"
