"""Draw the pictures of docs/console.md, docs/pictures/console-*.png: ``make screenshots``. Needs Debian's chromium.

Each is the same page in both themes, of a small shop in a server of its own. Only their times change from run to run.

``python tools/screenshots.py --all FOLDER`` draws every page at three widths in both themes, for people to look at.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import product
from pathlib import Path

import psycopg
import uvicorn
from console_world import fill, pass_an_hour
from PIL import Image
from selenium import webdriver

from howdah.console import app
from howdah.console.rendering import MENU
from howdah.engine.embedded import EmbeddedServer
from howdah.migrations import migrate

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
WIDTH = 1300
HEIGHTS = (640, 1100)
#: Of the pictures of every page.
WIDTHS = (320, 1024, 1600)
MOST_HEIGHT = 4000
MOST_BYTES = 60_000
FAILED = 400


@contextmanager
def shop() -> Iterator[str]:
    """A server with the shop: its DSN."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o711)  # the server's user must get through
        server = EmbeddedServer(folder / "server", 18)
        try:
            dsn = server.start().dsn
            migrate(dsn)
            pass_an_hour(dsn)
            fill(dsn, FAILED)
            count(dsn)
            yield dsn
        finally:
            server.stop("immediate")


def count(dsn: str) -> None:
    """What workers' maintenance does every few seconds."""
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("select howdah.maintain_backlog(), howdah.maintain_totals()")


@contextmanager
def served(dsn: str) -> Iterator[str]:
    """The console's address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app(dsn), log_level="critical", timeout_graceful_shutdown=1, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """Chromium without a window."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium") or "chromium"
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver") or "chromedriver"))
    try:
        yield driver
    finally:
        driver.quit()


def resize(browser: webdriver.Chrome, height: int, width: int = WIDTH) -> None:
    """Make the window so high and wide."""
    window = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", window)


def pages(dsn: str) -> dict[str, str]:
    """The pages by the names of their pictures."""
    with psycopg.connect(dsn) as db:
        row = db.execute("select message_id from howdah.list_poison('orders.dead', max_rows => 1)").fetchone()
    assert row is not None
    return {"overview": "/", "causes": "/causes", "message": f"/message?queue=orders.dead&id={row[0]}"}


def small(picture: bytes) -> bytes:
    """The same with few colours, which is enough for text."""
    out = BytesIO()
    with Image.open(BytesIO(picture)) as image:
        image.convert("RGB").quantize(32).save(out, "PNG", optimize=True)
    return out.getvalue()


def every_page(dsn: str) -> dict[str, str]:
    """All pages that have a menu entry, and those that the documentation shows."""
    listed = {path.strip("/") or "overview": path for path, _ in MENU}
    one = {"queue": "/queue?name=orders", "dead": "/dead?queue=orders.dead", "found": "/messages?queue=orders"}
    return listed | one | pages(dsn)


def draw(browser: webdriver.Chrome, address: str, width: int, most: int) -> bytes:
    """The page at an address, as high as it is, or as is allowed."""
    resize(browser, HEIGHTS[0], width)
    browser.get(address)
    browser.execute_script("document.querySelectorAll('.history details').forEach(one => one.open = true)")
    needed = browser.execute_script("return document.body.scrollHeight")
    resize(browser, min(needed, most), width)
    return small(browser.get_screenshot_as_png())


def main() -> None:
    """Draw them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", metavar="FOLDER", type=Path, help="every page at three widths, into this folder")
    everything: Path | None = parser.parse_args().all
    folder, widths = (everything, WIDTHS) if everything else (FOLDER, (WIDTH,))
    folder.mkdir(parents=True, exist_ok=True)
    with shop() as dsn, served(dsn) as address, chromium() as browser:
        browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Europe/Vienna"})
        for theme, width in product(("light", "dark"), widths):
            wanted = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)
            for name, path in (every_page(dsn) if everything else pages(dsn)).items():
                picture = draw(browser, address + path, width, MOST_HEIGHT if everything else HEIGHTS[1])
                assert everything or len(picture) <= MOST_BYTES, f"{name}: {len(picture)} bytes"
                size = f"-{width}" if everything else ""
                (folder / f"console-{name}-{theme}{size}.png").write_bytes(picture)
        browser.get("about:blank")


if __name__ == "__main__":
    main()
