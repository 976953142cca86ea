"""Render the reference of the Python API from signatures and docstrings: ``make docs``.

docs/python-api.md comes before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import griffe
import griffe2md


@dataclass(frozen=True)
class Page:
    """What one package exports about one subject."""

    name: str
    title: str
    #: Where the first of it is written, from the root of the repository: what docs/python-api.md links to.
    source: str
    #: Names that can be imported, in the order of the page.
    names: tuple[str, ...]
    #: A class whose members another page has.
    without: str | None = None


def _of(package: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{package}.{name}" for name in names)


OPERATOR = "howdah.engine.admin.poison_admin.PoisonAdmin"
PAGES = (
    Page(
        "connections",
        "Connections",
        "engine/connection.py",
        _of("howdah.engine", "connect", "Connection", "ConnectionFactory", "Reconnection", "Destination"),
    ),
    Page(
        "sessions",
        "Sessions",
        "engine/sessions/session.py",
        _of("howdah.engine", "Session", "Producer", "Consumer", "Browser", "Requestor"),
    ),
    Page(
        "calls",
        "Calls and their options",
        "engine/calls/options.py",
        _of("howdah.engine", "Call")
        + _of(
            "howdah.engine.calls.options",
            *("SendOptions", "SendManyOptions", "SharedOptions", "ReceiveOptions", "BrowseOptions", "ConsumerOptions"),
        ),
    ),
    Page(
        "messages",
        "Messages and failures",
        "engine/calls/message.py",
        _of(
            "howdah.engine",
            "Message",
            "TypedMap",
            "TypedStream",
            "Incident",
            "Result",
            "Reject",
            "Retry",
            "is_innocent",
        ),
    ),
    Page(
        "acknowledgement",
        "Acknowledgement as in JMS",
        "engine/jms/session.py",
        _of("howdah.engine", "AckSession", "AckConsumer", "Delivery", "AckMode", "AckType", "Prefetch"),
    ),
    Page(
        "objects",
        "Administered objects",
        "engine/objects.py",
        _of(
            "howdah.engine",
            *("lookup", "AdministeredFactory", "AdministeredDestination", "XAConnectionFactory"),
        ),
    ),
    Page("administration", "Administration", "engine/admin/admin.py", _of("howdah.engine", "Admin"), OPERATOR),
    Page("operator", "Failed messages, searches and acts", "engine/admin/poison_admin.py", (OPERATOR,)),
    Page(
        "workers",
        "Workers",
        "workers/app.py",
        _of("howdah.workers", "App", "Transaction", "HandlerTimeout", "Supervisor", "load"),
    ),
    Page(
        "monitoring",
        "Monitoring",
        "telemetry/health.py",
        _of("howdah.telemetry.health", "health", "Health", "Check"),
    ),
    Page(
        "testing",
        "Tests of applications",
        "testing/__init__.py",
        _of(
            "howdah.testing", "make_message", "run_handler", "Ran", "drain", "Drained", "Failure", "Databases", "server"
        ),
    ),
)

_OPTIONS: griffe2md.ConfigDict = {
    "heading_level": 2,
    "separate_signature": True,
    "show_signature_annotations": True,
    "show_if_no_docstring": True,
    "show_bases": False,
    "summary": False,
    "line_length": 100,
}
_CODE = re.compile(r"(?<!`)``(?!`)")
_HEADING = re.compile(r"^(#+) `(?:[\w.]+\.)?(\w+)`$", re.MULTILINE)


def render() -> dict[str, str]:
    """Each page by its name."""
    loader = griffe.GriffeLoader(search_paths=[Path(__file__).parent.parent / "src"])
    loader.load("howdah")
    loader.resolve_aliases(implicit=True)
    pages = {}
    for page in PAGES:
        texts = []
        options = _OPTIONS
        if page.without is not None:
            elsewhere = loader.modules_collection[page.without].all_members
            # The first filter that matches decides; a private name has no place here either way.
            options = {**_OPTIONS, "filters": [f"!^({'|'.join(elsewhere)})$", "!^_"]}
        for name in page.names:
            found = loader.modules_collection[name]
            texts.append(griffe2md.render_object_docs(found.final_target if found.is_alias else found, options))
        text = _CODE.sub("`", _HEADING.sub(r"\1 \2", "\n".join(texts)))
        pages[page.name] = f"# {page.title}\n\nThis page is made from signatures and docstrings.\n\n{text.strip()}\n"
    return pages
