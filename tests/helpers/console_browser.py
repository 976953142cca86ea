"""The console in a real browser: where it is served, and Debian's chromium that looks at it."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from support import wait_until

NEEDS = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("chromium"), reason="needs Debian's chromium"),
    pytest.mark.skipif(not shutil.which("chromedriver"), reason="needs Debian's chromium-driver"),
    # Selenium leaves its sockets to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
"""Marks of tests with a browser."""


@contextmanager
def served(application: Any) -> Iterator[str]:
    """An ASGI application at an address of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(
            application, log_level="warning", timeout_graceful_shutdown=1, ws="none", proxy_headers=False
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            wait_until(lambda: server.started)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium without a window."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = shutil.which("chromium")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options, service)
    try:
        driver.implicitly_wait(20)
        yield driver
    finally:
        driver.quit()


def use_theme(browser: Any, theme: str) -> None:
    """Look as somebody whose system is dark or light."""
    feature = {"name": "prefers-color-scheme", "value": theme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def send_headers(browser: Any, **headers: str) -> None:
    """Send these headers with each request from now on."""
    browser.execute_cdp_cmd("Network.enable", {})
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    browser.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": named})


def text_of(browser: Any) -> str:
    """What the page says to a reader, in one call: an element that was found may be another page's by the next."""
    said: str = browser.execute_script("return document.body ? document.body.innerText : ''")
    return said


def wait_for_text(browser: Any, text: str) -> None:
    """Wait until the page says so: a click may return before its page is there."""
    wait_until(lambda: text in text_of(browser))


def errors_of(browser: Any) -> list[str]:
    """What the browser complained about since it was asked last, such as a breach of the page's policy."""
    return [line["message"] for line in browser.get_log("browser") if line["level"] == "SEVERE"]
