"""howdah engine: properties of the whole engine, how full it is, and whether it runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import output, times
from .common import FAILED, Dsn, Json, Role, Yes, confirm, connected, pairs

app = typer.Typer(
    no_args_is_help=True, help="Properties and limits of the whole engine, how full it is, and whether it runs."
)

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="KEY=VALUE",
        help="Property to set, such as max_size=5m or autorollback=true. A wrong name lists all names.",
    ),
]


Reason = Annotated[str | None, typer.Option("--reason", help="Reason, kept with the record of the act.")]


@app.command()
def show(dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show whether the engine runs, the resource state (green to red), the queues' contents and the properties."""
    with connected(dsn, role) as connection:
        runs = {"engine": connection.admin.engine_state()["state"]}
        facts = {**runs, **connection.admin.resource_state(), **connection.admin.engine_options()}
    output.facts(facts, as_json=as_json)


@app.command()
def alter(option: Options = None, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Change properties of the engine. The others stay as they are."""
    options = pairs(option, "--option")
    if not options:
        raise typer.BadParameter("name at least one: -o KEY=VALUE", param_hint="--option")
    with connected(dsn, role) as connection:
        connection.admin.alter_engine(**options)
    output.said(f"engine altered: {', '.join(options)}", as_json=as_json, altered=options)


@app.command()
def status(dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show whether the engine runs, and the transactions and leases that are under way."""
    with connected(dsn, role) as connection:
        facts = connection.admin.engine_state()
    output.facts(facts, as_json=as_json)


@app.command()
def pause(reason: Reason = None, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let nobody send or receive. Open transactions can end."""
    with connected(dsn, role) as connection:
        changed = connection.admin.pause_engine(reason)
    _said("paused", "was paused, quiesced or stopped already", changed, as_json=as_json)


@app.command()
def quiesce(reason: Reason = None, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let no new work begin, and let what is under way end."""
    with connected(dsn, role) as connection:
        changed = connection.admin.quiesce_engine(reason)
    _said("quiesced", "was quiesced or stopped already", changed, as_json=as_json)


@app.command()
def resume(reason: Reason = None, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let everybody send and receive again. After a stop, non-persistent messages are discarded."""
    with connected(dsn, role) as connection:
        changed = connection.admin.resume_engine(reason)
    _said("resumed", "was running already", changed, as_json=as_json)


@app.command()
def stop(
    timeout: Annotated[
        float, times.length("--timeout", help="Longest wait for what is under way: 90 (seconds), 5m, …")
    ] = 30,
    reason: Reason = None,
    yes: Yes = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Quiesce, wait until nothing is under way, and stop. Non-persistent messages are lost.

    Exits with 1 if something is still under way after the timeout. The engine then stays quiesced: run it again.
    """
    with connected(dsn, role) as connection:
        confirm("Stop the engine? All non-persistent messages will be lost.", yes=yes)
        state = connection.admin.stop_engine(timeout, reason)
    if state["state"] == "stopped":
        output.said("engine stopped", as_json=as_json, **state)
        return
    output.said(f"engine {state['state']}, not stopped: {_under_way(state)}", as_json=as_json, **state)
    raise typer.Exit(FAILED)


def _said(verb: str, otherwise: str, changed: bool, *, as_json: bool) -> None:
    output.said(f"engine {verb if changed else otherwise}", as_json=as_json, **{verb: changed})


def _under_way(state: dict[str, Any]) -> str:
    transactions = output.counted(state["transactions"], "transaction")
    processes = f" (processes {', '.join(map(str, state['pids']))})" if state["pids"] else ""
    return f"{transactions}{processes} and {output.counted(state['leases'], 'lease')} under way"
