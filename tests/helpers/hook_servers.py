"""A web server and a mail server for tests of hooks: they answer as told and keep what they got."""

from __future__ import annotations

import base64
import email
import email.policy
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

S = TypeVar("S", bound=socketserver.BaseServer)


class WebServer(ThreadingHTTPServer):
    """Answers each request with the next of ``answers``, at the end with 200, once it may go on."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/in?key=secret-in-url"
        self.answers: list[int] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.got: list[tuple[str, dict[str, str], bytes]] = []

    def next_answer(self) -> int:
        self.go_on.wait(10)
        return self.answers.pop(0) if self.answers else 200


class _Request(BaseHTTPRequestHandler):
    server: WebServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, dict(self.headers), body))
        self.send_response(self.server.next_answer())
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def do_GET(self) -> None:
        self.server.got.append((self.path, dict(self.headers), b"GET"))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


class MailServer(socketserver.ThreadingTCPServer):
    """Takes mail after STARTTLS and AUTH, where it has a certificate; ``refuses`` names the command it says 451 to."""

    daemon_threads = True

    def __init__(self, certificate: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Mail)
        self.port = int(self.server_address[1])
        self.context: ssl.SSLContext | None = None
        if certificate is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)
        self.refuses = ""
        self.got: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.logins: list[tuple[str, ...]] = []


class _Mail(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        server, secure = self.server, self.server.context is None
        self.say("220 ready")
        while line := self.rfile.readline().decode().strip():
            verb = line.split(" ")[0].upper()
            if verb == server.refuses:
                self.say(f"451 not now: {line}")
            elif verb == "EHLO":
                offers = ["test"] if server.context is None else ["test", "AUTH PLAIN" if secure else "STARTTLS"]
                for number, offer in enumerate(offers, 1):
                    self.say(f"250{' ' if number == len(offers) else '-'}{offer}")
            elif verb == "STARTTLS" and server.context is not None:
                self.say("220 go on")
                try:
                    self.connection = server.context.wrap_socket(self.connection, server_side=True)
                except ssl.SSLError:
                    return
                self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
                secure = True
            elif verb == "AUTH":
                server.logins.append(tuple(base64.b64decode(line.split(" ")[2]).decode().split("\0")[1:]))
                self.say("235 welcome")
            elif verb == "RCPT":
                server.recipients.append(line.partition(":")[2].strip("<>"))
                self.say("250 ok")
            elif verb == "DATA":
                self.say("354 go on")
                lines = list(iter(self.rfile.readline, b".\r\n"))
                server.got.append(email.message_from_bytes(b"".join(lines), policy=email.policy.default))
                self.say("250 taken")
            elif verb == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 ok")

    def finish(self) -> None:
        super().finish()
        self.connection.close()  # not the one that the server knows, after STARTTLS

    def say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def serving(server: S) -> Iterator[S]:
    """Serve in a thread until the end of the block."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
