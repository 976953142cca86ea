"""Forms of the console, filled in and sent."""

from __future__ import annotations

import re
from html import unescape

from console_people import person_named
from starlette.testclient import TestClient

from howdah.console.tokens import COOKIE, Tokens

SECRET = "s"
"""The secret of the console under test, with which its forms are signed."""


def hidden(page: str) -> dict[str, list[str]]:
    """The hidden fields of a form."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page):
        found.setdefault(name, []).append(unescape(value))
    return found


def submit(client: TestClient, person: str = "operator", **fields: str | list[str]) -> str:
    """Fill in a form and send it: the page that answers. Who is shown no form sends a forged one."""
    headers = {"x-test-person": person}
    first = client.get("/act", params={name: fields[name] for name in fields if name != "reason"}, headers=headers)
    given: dict[str, str | list[str]] = {**hidden(first.text)}
    given.setdefault("token", Tokens(SECRET)._sign(client.cookies[COOKIE], person_named(person)))
    answer = client.post("/act", data={**given, **fields}, headers=headers)
    said: str = answer.text
    return said


def go_on(client: TestClient, page: str) -> tuple[str, int]:
    """Send the form between two batches until there is none: the last page, and how many times."""
    times = 0
    while "data-continue" in page:
        assert times < 9
        page = client.post("/act", data=hidden(page), headers={"x-test-person": "operator"}).text
        times += 1
    return page, times
