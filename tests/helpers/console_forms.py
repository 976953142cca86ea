"""Forms of the console, filled in and sent."""

from __future__ import annotations

import re

from starlette.testclient import TestClient


def submit(client: TestClient, person: str = "operator", **fields: str) -> str:
    """Fill in a form and send it: the page that answers."""
    headers = {"x-test-person": person}
    first = client.get("/act", params={name: fields[name] for name in fields if name != "reason"}, headers=headers)
    given = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', first.text))
    given = {name: value.replace("&#34;", '"') for name, value in given.items()}
    answer = client.post("/act", data={**given, **fields}, headers=headers)
    said: str = answer.text
    return said
