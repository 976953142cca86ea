"""howdah cluster: what all instances of a database have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output
from .common import Dsn, Json, Role, connected

app = typer.Typer(no_args_is_help=True, help="Show and set who may change the configuration: anybody, or a master.")


@app.command()
def show(dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show the settings that all instances have in common, and whether changes are accepted now."""
    with connected(dsn, role) as connection:
        facts = connection.instances.cluster()
    output.facts(facts, as_json=as_json)


@app.command()
def mode(
    which: Annotated[
        str,
        typer.Argument(
            metavar="MODE",
            help="none: the configuration can be changed at any time. master: only while the master runs.",
            show_default=False,
        ),
    ],
    master: Annotated[
        str | None, typer.Option("--master", metavar="NAME", help="Name of the instance that is the master.")
    ] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Say who may change the configuration. Instances go on meanwhile."""
    with connected(dsn, role) as connection:
        changed = connection.instances.set_cluster(which, master)
    output.said(f"cluster mode {'set to' if changed else 'was'} {which}", as_json=as_json, changed=changed)


@app.command()
def changemaster(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new master.", show_default=False)],
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Make another instance the master. Changes are accepted once it runs."""
    with connected(dsn, role) as connection:
        changed = connection.instances.change_master(name)
    output.said(f"{name} {'is now' if changed else 'was already'} the master", as_json=as_json, changed=changed)
