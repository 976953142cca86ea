"""howdah console: the engine's pages for people, in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from . import output, times
from .common import NOT_READY, Dsn, resolve_dsn

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from ..console import Basic, Local, Proxy

Auth = Literal["local", "basic", "proxy"]


def console(
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = 8470,
    auth: Annotated[
        Auth,
        typer.Option(
            "--auth",
            help="Who looks: the DSN's user (local), the user of HTTP basic, or the role that a proxy names.",
        ),
    ] = "local",
    trust: Annotated[
        list[str] | None,
        typer.Option("--trust", metavar="NETWORK", help="Address of the proxy, as 10.0.0.5/32; may be repeated."),
    ] = None,
    header: Annotated[
        str, typer.Option("--header", metavar="NAME", help="Header in which the proxy names the role.")
    ] = "X-Forwarded-User",
    live_role: Annotated[
        str | None,
        typer.Option(
            "--live-role",
            metavar="ROLE",
            help="Role in which live figures and /readyz are read; --auth proxy needs it.",
        ),
    ] = None,
    timeout: Annotated[float, times.length("--timeout", positive=True, help="Longest time of one statement.")] = 5.0,
    trace_url: Annotated[
        str | None,
        typer.Option("--trace-url", metavar="URL", help="Address of a trace: https://traces.example/{trace_id}."),
    ] = None,
    secure: Annotated[
        bool, typer.Option("--secure", help="People reach it over HTTPS, by a proxy: its cookie is for HTTPS alone.")
    ] = False,
    root_path: Annotated[
        str | None,
        typer.Option("--root-path", metavar="PATH", help="Prefix under which a reverse proxy has it, such as /queues."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="NAME", help="Another database of that server. [default: the DSN's]"),
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Show queues and messages in a browser, and act on them."""
    from psycopg.conninfo import make_conninfo

    from ..text.extras import how_to_install

    try:
        import uvicorn

        from ..console import app
        from ..console.people import is_loopback
    except ModuleNotFoundError as error:
        output.complain(f"the console lacks {error.name}: {how_to_install('console')}")
        raise typer.Exit(NOT_READY) from error
    if auth == "local" and not is_loopback(host):
        raise typer.BadParameter("without --auth it listens on this machine alone", param_hint="--host")
    found = make_conninfo(resolve_dsn(dsn), **({"dbname": database} if database else {}))
    access = _access(auth, trust, header.lower(), live_role)
    try:
        application: ASGIApp = app(
            found, access, live_role=live_role, timeout=timeout, trace_url=trace_url, secure=secure or None
        )
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--trace-url") from error
    if root_path is not None:
        application = _under(application, root_path)
    if auth == "local":
        output.complain("nobody has to log in, so it listens on this machine alone; see --auth")
    # A proxy's word about the address would let anybody claim a trusted one.
    uvicorn.run(application, host=host, port=port, proxy_headers=False, server_header=False, log_level="info")


def _under(application: ASGIApp, prefix: str) -> ASGIApp:
    from ..console.prefix import Prefix

    try:
        return Prefix(application, prefix)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--root-path") from error


def _access(auth: Auth, trust: list[str] | None, header: str, live_role: str | None) -> Basic | Local | Proxy:
    from ..console import Basic, Local, Proxy

    if auth == "proxy":
        try:
            proxy = Proxy(trust or [], header)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--trust") from error
        if not live_role:
            why = "with --auth proxy the DSN's user has no rights: say in which role live figures and checks are read"
            raise typer.BadParameter(why, param_hint="--live-role")
        return proxy
    if trust:
        raise typer.BadParameter("it belongs to --auth proxy", param_hint="--trust")
    return Basic() if auth == "basic" else Local()
