"""How the console answers: who asks, the transaction, the page; and each refusal as a page of its own."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from ..engine.errors import BadArgument, HowdahError, NameNotFound, NoSuchQueue, NotAllowed, translate
from ..telemetry.metrics import CONTENT_TYPE, rendered
from .asked import Done, UnconfirmedError
from .attempts import Attempts
from .database import Database
from .forms import act_of, asked_by, check, confirming, form, going_on, sofar, told
from .live import MOST_QUEUES, Poller, Stream, Views
from .pages.catalog import closed
from .pages.page import Page, Shown, number
from .pages.search import place_of
from .people import REALM, Access, Person, RefusedError
from .rendering import Rendering, base_of
from .rights import offered
from .tokens import FIELD, Tokens

#: Bytes of a form: a body to send or to edit fits.
MOST_FORM = 4 * 1024 * 1024


class Answers:
    """Endpoints of the console."""

    def __init__(
        self,
        database: Database,
        access: Access,
        rendering: Rendering,
        tokens: Tokens,
        attempts: Attempts,
        poller: Poller,
        views: Views,
    ) -> None:
        self._database = database
        self._access = access
        self._rendering = rendering
        self._tokens = tokens
        self._attempts = attempts
        self._poller = poller
        self._views = views

    def page(self, page: Page) -> Callable[[Request], Response]:
        """An endpoint that shows a page, in a thread."""

        def endpoint(request: Request) -> Response:
            return self._answered(request, lambda person: self._shown(request, person, page))

        return endpoint

    def form(self, request: Request) -> Response:
        """The form of an act, with its preview."""

        def shown(person: Person) -> Response:
            act, asked = act_of(request.query_params), asked_by(request.query_params)
            with self._database.work(person) as work:
                page = form(work, act, request.query_params["act"], asked)
            return self._render(request, person, page)

        return self._answered(request, shown)

    async def act(self, request: Request) -> Response:
        """Do what a form asks for."""
        length = request.headers.get("content-length", "")
        # A body in chunks may have any length, whatever the header says.
        chunked = "transfer-encoding" in request.headers
        if chunked or not (length.isascii() and length.isdigit() and len(length) < 10) or int(length) > MOST_FORM:
            return Response("The form is too large.", 413, media_type="text/plain")
        async with request.form(max_files=0) as given:
            return await run_in_threadpool(
                self._answered, request, lambda person: self._performed(request, person, given)
            )

    def search(self, request: Request) -> Response:
        """Go to the queue or message that was searched for."""

        def found(person: Person) -> Response:
            with self._database.work(person) as work:
                place = place_of(work, request.query_params.get("q", ""))
            return RedirectResponse(base_of(request) + place, 303)

        return self._answered(request, found)

    async def live(self, request: Request) -> Response:
        """The stream of live figures."""

        def begin(person: Person) -> Response:
            with self._database.work(person):
                pass
            names = tuple(
                sorted({name.replace("\0", "") for name in request.query_params.getlist("queue")[:MOST_QUEUES]})
            )
            busiest = number(request, "busiest") or MOST_QUEUES
            stream = Stream(self._poller, self._views, lambda: self._access.identify(request), names, busiest)
            return StreamingResponse(stream.events(request.is_disconnected), media_type="text/event-stream")

        return await run_in_threadpool(self._answered, request, begin)

    def metrics(self, request: Request) -> Response:
        """The engine's metrics for monitoring, as the person may see them."""

        def exposed(person: Person) -> Response:
            with self._database.work(person) as work:
                samples = work.admin.metrics(number(request, "queues") or 100)
            return Response(rendered(samples), headers={"content-type": CONTENT_TYPE})

        return self._answered(request, exposed)

    def _performed(self, request: Request, person: Person, given: FormData) -> Response:
        self._tokens.check(request, person, str(given.get(FIELD, "")))
        act, asked, name = act_of(given), asked_by(given), str(given.get("act", ""))
        before = sofar(given)
        try:
            with self._database.work(person, reading=False) as work:
                check(work, act, asked)
                done = act.perform(work, asked)
        except UnconfirmedError as lost:
            with self._database.work(person) as work:
                page = confirming(work, act, name, asked, str(lost))
            return self._render(request, person, page)
        except (HowdahError, psycopg.Error) as error:
            refused = error if isinstance(error, HowdahError) else translate(error)
            if refused is not None and before.count:
                refused.hint = f"Before this: {told(before)} {refused.hint or ''}"
                raise refused from error
            raise
        done = Done(before.count + done.count, done.after, before.left + done.left, before.why or done.why)
        if done.after is not None:
            return self._render(request, person, going_on(act, name, asked, done))
        title = f"{act.title}: done" if done.count else f"{act.title}: nothing done"
        return self._said(request, person, 200, title, told(done), back=True)

    def _shown(self, request: Request, person: Person, page: Page) -> Response:
        with self._database.work(person) as work:
            shown = page(request, work)
            queue = shown.values.get("queue") or shown.values.get("name")
            beside = {"may": offered(work, queue), "closed": closed(work)}
        return self._render(request, person, Shown(shown.template, {**beside, **shown.values}))

    def _render(self, request: Request, person: Person, shown: Shown) -> Response:
        return self._rendering.page(request, person, shown.template, **shown.values)

    def _answered(self, request: Request, answer: Callable[[Person], Response]) -> Response:
        """The answer, or the refusal as a page."""
        person = None
        try:
            person = self._access.identify(request)
            return self._logged_in(request, person, answer)
        except RefusedError as error:
            if (
                error.log_in is not None
                and "text/html" in request.headers.get("accept", "")
                and request.method == "GET"
            ):
                return RedirectResponse(error.log_in, 303)
            response = self._said(request, None, error.status, "Refused", error.why)
            if error.challenge:
                response.headers["www-authenticate"] = REALM
            return response
        except HowdahError as error:
            return self._said(request, person, _status(error), "Not done", error.message, error.hint or "")
        except psycopg.Error as error:
            ours = translate(error)
            if ours is not None:
                return self._said(request, person, _status(ours), "Not done", ours.message, ours.hint or "")
            status = 504 if isinstance(error, psycopg.errors.QueryCanceled) else 500
            return self._said(request, person, status, "Not done", error.diag.message_primary or "The database failed.")

    def _logged_in(self, request: Request, person: Person, answer: Callable[[Person], Response]) -> Response:
        """The answer, if the person has not failed too often to log in as a user of the database."""
        if person.user is None:
            return answer(person)
        address = request.client.host if request.client else ""
        wait = self._attempts.wait(address, person.user)
        if wait:
            response = self._said(request, None, 429, "Too many failed log-ins", "Try again later.")
            response.headers["retry-after"] = str(wait)
            return response
        try:
            response = answer(person)
        except RefusedError as error:
            if error.status == 401:
                self._attempts.failed(address, person.user)
            raise
        self._attempts.succeeded(address, person.user)
        return response

    def _said(
        self,
        request: Request,
        person: Person | None,
        status: int,
        title: str,
        text: str,
        hint: str = "",
        *,
        back: bool = False,
    ) -> Response:
        values = {"title": title, "text": text, "hint": hint, "back": base_of(request) + "/acts" if back else ""}
        return self._rendering.page(request, person, "said.html", status, **values)


def _status(error: HowdahError) -> int:
    if isinstance(error, NotAllowed):
        return 403
    if isinstance(error, NoSuchQueue | NameNotFound):
        return 404
    if isinstance(error, BadArgument):
        return 400
    return 409
