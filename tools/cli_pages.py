"""Render the reference of the command line from its own help texts: ``make docs``. docs/cli.md comes before it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import typer.cli
import typer.main

from howdah.cli.main import app


@dataclass(frozen=True)
class Page:
    """Some commands of one subject."""

    name: str
    title: str
    #: Where the first of them is written, from the root of the repository: what docs/cli.md links to.
    source: str
    commands: tuple[str, ...]


PAGES = (
    Page("messages", "Send, receive and browse", "cli/send.py", ("send", "receive", "browse", "result")),
    Page("queues", "Queues", "cli/queue/command.py", ("queue", "redaction")),
    Page("topics", "Topics, subscriptions and aliases", "cli/topic.py", ("topic", "subscription", "alias")),
    Page("transformations", "Transformations", "cli/transformation.py", ("transformation",)),
    Page("listeners", "Listeners", "cli/listener.py", ("listener",)),
    Page("schedules", "Schedules", "cli/schedule.py", ("schedule", "scheduler")),
    Page("links", "Links and imports", "cli/link.py", ("link", "import")),
    Page("access", "Access rules and users", "cli/access.py", ("access", "user")),
    Page("objects", "Administered objects", "cli/objects.py", ("object",)),
    Page("workers", "Workers", "cli/worker.py", ("worker", "workers")),
    Page("instances", "Instances and changes", "cli/instance.py", ("instance", "cluster", "changes")),
    Page("poison", "Failed messages", "cli/poison/command.py", ("poison",)),
    Page("kept", "Kept messages", "cli/kept.py", ("kept",)),
    Page(
        "server",
        "Server and installation",
        "cli/server.py",
        ("server", "migrate", "facade", "check", "health", "top", "metrics", "board", "console"),
    ),
    Page(
        "engine",
        "The engine and its surroundings",
        "cli/engine.py",
        ("engine", "service", "log", "transactions", "hooks"),
    ),
    Page("audit", "Audits and the archive", "cli/audit.py", ("audit", "archive")),
    Page("bench", "Measurements and the demo", "cli/bench.py", ("bench", "demo")),
)


def _whole_summaries(command: Any) -> None:
    """Give each command below its first sentence as its summary, where click would cut it at 45 letters."""
    for below in getattr(command, "commands", {}).values():
        below.short_help = (below.help or "").split("\n\n")[0].replace("\n", " ")
        _whole_summaries(below)


def render() -> dict[str, str]:
    """Each page by its name."""
    command = typer.main.get_command(app)
    _whole_summaries(command)
    context = typer.Context(command, info_name="howdah", help_option_names=["-h", "--help"])
    commands: dict[str, Any] = vars(command)["commands"]
    pages = {}
    for page in PAGES:
        texts = [
            typer.cli.get_docs_for_click(obj=commands[name], ctx=context, name=f"howdah {name}", indent=1)
            for name in page.commands
        ]
        # Typer escapes quotes, which Markdown would show as they are in code.
        text = html.unescape("\n".join(texts)).replace("\\[default:", "[default:").replace("\n* ", "\n- ")
        pages[page.name] = f"# {page.title}\n\nThis page is made from the commands' help texts.\n\n{text.strip()}\n"
    return pages
