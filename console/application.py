"""The console as an ASGI application, alone or mounted under any prefix of another."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from .answers import Answers
from .attempts import Attempts
from .database import Database
from .headers import Headers
from .live import Poller, Views
from .pages.audits import audit
from .pages.catalog import LISTINGS
from .pages.messages import message, messages
from .pages.page import Page
from .pages.queues import causes, overview, queue, queues
from .pages.search import FOUND
from .pages.trace import trace
from .people import Access, Local, Person
from .probes import probe
from .rendering import FOLDER, Rendering
from .tokens import Tokens
from .traces import checked

NOTICE = "This console asks nobody who they are: it answers on this machine alone, and acts as the user of its DSN."


def app(
    dsn: str,
    access: Access | None = None,
    *,
    live_role: str | None = None,
    timeout: float = 5.0,
    secret: str | None = None,
    live_seconds: float = 2.0,
    trace_url: str | None = None,
    secure: bool | None = None,
) -> Starlette:
    """The console of a database.

    access: how a request says who looks; None: everybody on this machine is the DSN's user.
    live_role: the role in which the one poller reads figures; None: the DSN's user.
    timeout: seconds that one statement may take.
    secret: the same for all processes that answer for one address.
    trace_url: the address of a trace, with {trace_id} where its id stands; None: ids are shown as text.
    secure: whether people reach it over HTTPS, so that its cookie is for HTTPS alone. None: as each request came;
    behind a proxy, that is not how people reach it.

    Raises ValueError if trace_url is no such address.
    """
    database = Database(dsn, timeout)
    access = access or Local()
    poller = Poller(database, Person("the console's poller", role=live_role), live_seconds)
    tokens = Tokens(secret, secure)
    rendering = Rendering(tokens, live=True, notice=NOTICE if isinstance(access, Local) else "")
    answers = Answers(database, access, rendering, tokens, Attempts(), poller, Views(database))
    pages: dict[str, Page] = {
        "/": overview,
        "/queues": queues,
        "/queue": queue,
        "/messages": messages,
        "/message": message(checked(trace_url)),
        "/audit": audit,
        "/causes": causes,
        "/trace": trace(checked(trace_url)),
        "/found": FOUND.page,
        **{path: listing.page for path, listing in LISTINGS.items()},
    }

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        database.close()

    application = Starlette(
        lifespan=lifespan,
        routes=[
            *(Route(path, answers.page(page), methods=["GET"]) for path, page in pages.items()),
            Route("/act", answers.form, methods=["GET"]),
            Route("/act", answers.act, methods=["POST"]),
            Route("/search", answers.search, methods=["GET"]),
            Route("/live", answers.live, methods=["GET"]),
            Route("/metrics", answers.metrics, methods=["GET"]),
            Route("/healthz", probe(dsn, live_role, ready=False), methods=["GET"]),
            Route("/readyz", probe(dsn, live_role, ready=True), methods=["GET"]),
            Mount("/static", StaticFiles(directory=FOLDER / "static")),
        ],
    )
    application.add_middleware(Headers)
    return application
