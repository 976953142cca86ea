"""The console behind a proxy that has it under a prefix, whether or not the proxy cuts the prefix off."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class Prefix:
    """Lets an application answer under a prefix, with links that keep it.

    A path that begins with the prefix counts as the whole path, even if a page has that name too.
    """

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        """prefix: such as /queues. Raises ValueError if it is no path."""
        self._app = app
        self._prefix = checked(prefix)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with the whole path, as the browser asked for it."""
        if scope["type"] in ("http", "websocket"):
            path: str = scope["path"]
            if path == self._prefix:
                path += "/"
            elif not path.startswith(self._prefix + "/"):
                path = self._prefix + path
            scope = {**scope, "path": path, "root_path": self._prefix}
        await self._app(scope, receive, send)


def checked(prefix: str) -> str:
    """The prefix without a slash at its end. Raises ValueError."""
    found = prefix.rstrip("/")
    if not found.startswith("/") or any(part in ("", ".", "..") for part in found[1:].split("/")):
        raise ValueError("a prefix is a path, such as /queues")
    if any(not character.isprintable() or character in " ?#%;,\"'<>\\" for character in found):
        raise ValueError("a prefix has only characters that a path has")
    return found
