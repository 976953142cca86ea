"""howdah facade: other queues' SQL APIs over Howdah."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, progress
from .common import Dsn, Json, Yes, confirm, connected, resolve_dsn

app = typer.Typer(no_args_is_help=True, help="Install the SQL API of another queue, so that its clients use Howdah.")

Facade = Annotated[str, typer.Argument(metavar="FACADE", help="Facade: pgmq or pgmq_public.", show_default=False)]


@app.command()
def install(facade: Facade, dsn: Dsn = None, as_json: Json = False) -> None:
    """Install a facade in a schema of its own, or bring it up to date."""
    from .. import migrations

    known = _known(facade)
    migrations.add_facade(_reached(dsn), known)
    output.said(f"facade {facade} installed", as_json=as_json, facade=facade, installed=True)


@app.command()
def adopt(facade: Facade, yes: Yes = False, dsn: Dsn = None, as_json: Json = False) -> None:
    """Put a facade in place of the real queue: take its messages and archives over, and drop it."""
    from .. import migrations

    if _known(facade) != "pgmq":
        raise typer.BadParameter("only pgmq can be adopted", param_hint="FACADE")
    dsn = _reached(dsn)
    confirm(f"Take over all queues of {facade} in this database, and drop what is there now?", yes=yes)
    with progress.working(f"taking over the queues of {facade}"):
        moved = migrations.adopt_pgmq(dsn)
    said = ", ".join(f"{name} ({count} messages)" for name, count in moved.items()) or "no queues"
    output.said(f"facade {facade} has adopted {said}", as_json=as_json, facade=facade, adopted=moved)


@app.command()
def remove(facade: Facade, yes: Yes = False, dsn: Dsn = None, as_json: Json = False) -> None:
    """Remove a facade. The queues stay, with their messages and what is archived: see howdah kept."""
    from .. import migrations

    known = _known(facade)
    dsn = _reached(dsn)
    confirm(f"Remove the facade {known}? Its queues and archived messages stay.", yes=yes)
    migrations.remove_facade(dsn, facade)
    output.said(f"facade {facade} removed", as_json=as_json, facade=facade, installed=False)


def _reached(dsn: str | None) -> str:
    """The DSN of a server that answers: anything else is said before a question is asked."""
    dsn = resolve_dsn(dsn)
    with connected(dsn, None) as connection, connection.session() as session:
        session.connection.execute("select 1")
    return dsn


def _known(facade: str) -> str:
    from ..procedures import checked_name

    try:
        return checked_name(facade)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="FACADE") from None
