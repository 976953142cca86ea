"""Tokens of forms: only a page that this console made for this person makes it act."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from .people import Person, RefusedError

COOKIE = "howdah_form"
FIELD = "token"


class Tokens:
    """Makes the token of a form from a cookie and the person, and checks it."""

    def __init__(self, secret: str | None = None, secure: bool | None = None) -> None:
        """secret: shared by all processes that answer for one console. None: this process has its own.

        secure: whether browsers send the cookie over HTTPS alone. None: if the request came over HTTPS.
        """
        self._secure = secure
        self._secret = (secret or secrets.token_hex(32)).encode()

    def token(self, request: Request, person: Person) -> str:
        """The token of a form on this page."""
        return self._sign(self._nonce(request), person)

    def remember(self, request: Request, response: Response) -> None:
        """Let the browser keep what the token was made from."""
        if request.cookies.get(COOKIE) != self._nonce(request):
            response.set_cookie(
                COOKIE,
                self._nonce(request),
                path=request.scope.get("root_path", "") or "/",
                secure=request.url.scheme == "https" if self._secure is None else self._secure,
                httponly=True,
                samesite="strict",
            )

    def check(self, request: Request, person: Person, given: str) -> None:
        """Raises RefusedError unless the form is ours."""
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
            raise RefusedError(403, "This form came from another site. Nothing was done.")
        nonce = request.cookies.get(COOKIE, "")
        if not nonce or not hmac.compare_digest(self._sign(nonce, person).encode(), given.encode()):
            raise RefusedError(403, "This form is too old, or not from this console. Load the page and try again.")

    def _nonce(self, request: Request) -> str:
        if not hasattr(request.state, "nonce"):
            request.state.nonce = request.cookies.get(COOKIE) or secrets.token_hex(16)
        nonce: str = request.state.nonce
        return nonce

    def _sign(self, nonce: str, person: Person) -> str:
        return hmac.new(self._secret, f"{nonce}\0{person.name}".encode(), hashlib.sha256).hexdigest()
