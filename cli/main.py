"""The `howdah` command: one sub-command a file, put together here."""

from __future__ import annotations

import sys

import typer

from ..engine.embedded import EmbeddedServerError
from . import server

app = typer.Typer(
    name="howdah",
    help="A message queue that lives in PostgreSQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(server.app, name="server")


def main() -> None:
    """Run the command. Errors that we know are one line on stderr, with exit code 1."""
    try:
        app()
    except EmbeddedServerError as error:
        sys.exit(f"howdah: {error}")


if __name__ == "__main__":
    main()
