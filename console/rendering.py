"""Pages from templates: everything is escaped, and links keep the prefix under which the console is mounted."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from .people import Person
from .showing import counts, is_moment, moments, plain, span, visible
from .tokens import Tokens

FOLDER = Path(__file__).parent

MENU = (
    ("/", "Overview"),
    ("/queues", "Queues"),
    ("/messages", "Messages"),
    ("/causes", "Failures"),
    ("/delayed", "Delayed"),
    ("/schedules", "Schedules"),
    ("/topics", "Topics"),
    ("/subscriptions", "Subscriptions"),
    ("/workers", "Workers"),
    ("/consumers", "Consumers"),
    ("/leases", "Leases"),
    ("/links", "Links"),
    ("/transformations", "Transformations"),
    ("/instances", "Instances"),
    ("/transactions", "Transactions"),
    ("/storage", "Storage"),
    ("/changes", "Changes"),
    ("/acts", "Acts"),
    ("/audits", "Audits"),
)


class Rendering:
    """Renders a template for a request."""

    def __init__(self, tokens: Tokens, *, live: bool, notice: str = "") -> None:
        """notice: a sentence on every page about who may see it."""
        self._tokens = tokens
        self._common = {"live": live, "notice": notice, "menu": MENU, "closed": frozenset()}
        self._environment = Environment(
            loader=FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(visible=visible, plain=plain, span=span, counts=counts, moments=moments)
        self._environment.tests["moment"] = is_moment

    def page(
        self, request: Request, person: Person | None, template: str, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """The page as a response, with the cookie of its forms."""
        base = base_of(request)

        def link(path: str, **parts: object) -> str:
            given = {name: part for name, part in parts.items() if part not in (None, "")}
            return base + path + ("?" + urlencode(given) if given else "")

        token = self._tokens.token(request, person) if person else ""
        text = self._environment.get_template(template).render(
            self._common
            | {"link": link, "here": request.url.path.removeprefix(base), "person": person, "token": token}
            | values
        )
        response = HTMLResponse(text.encode("utf-8", "backslashreplace"), status)
        self._tokens.remember(request, response)
        return response


def base_of(request: Request) -> str:
    """The prefix that the console is mounted under; empty for none."""
    base: str = request.scope.get("root_path", "")
    return base.rstrip("/")
