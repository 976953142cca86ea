"""Report an event: by POST to a webhook, or by mail over SMTP."""

from __future__ import annotations

import http.client
import json
import smtplib
import urllib.error
import urllib.request
from email.message import EmailMessage
from email.utils import formatdate
from typing import Any

from ...engine import HowdahError, Message
from .config import MailHook, Webhook
from .text import as_text, inside_json, on_one_line

Event = dict[str, Any]

FIRST = ("event", "queue", "message_id", "reason", "at")
"""Fields at the start of a mail."""


class HookFailed(HowdahError):
    """A hook could not be called, or did not accept the event."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirection would repeat the POST as a GET without the event, and take the headers elsewhere."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def tell(hook: Webhook | MailHook, event: Event, advisory: Message) -> None:
    """Report an event to the hook. Raises HookFailed, whose text holds neither address nor password."""
    if isinstance(hook, Webhook):
        _post(hook, event, advisory)
    else:
        _mail(hook, event, advisory)


def _post(hook: Webhook, event: Event, advisory: Message) -> None:
    """Send one POST; only 2xx is success. The receiver knows a repetition by its Howdah-Advisory."""
    if hook.body is None:
        text = json.dumps(event)
    else:
        text = hook.body.fill(event, inside_json if "json" in hook.content_type else str)
    request = urllib.request.Request(hook.url, text.encode("utf-8"), method="POST")
    for header, value in {
        "User-Agent": "howdah",
        "Content-Type": hook.content_type,
        "Howdah-Advisory": _identity(advisory),
        **hook.headers,
    }.items():
        request.add_unredirected_header(header, value)
    try:
        with _OPENER.open(request, timeout=hook.timeout):
            pass
    except urllib.error.HTTPError as error:
        error.close()
        raise HookFailed(f"webhook {hook.name} answered {error.code}") from None
    except (OSError, http.client.HTTPException) as error:
        cause = getattr(error, "reason", None) or error
        raise HookFailed(f"webhook {hook.name} does not answer: {type(cause).__name__}: {cause}") from None


def _mail(hook: MailHook, event: Event, advisory: Message) -> None:
    """Send one mail to all recipients. It fails only if none was accepted, so that no recipient gets it twice."""
    mail = EmailMessage()
    mail["From"], mail["To"] = hook.sender, ", ".join(hook.recipients)
    mail["Subject"] = on_one_line(hook.subject.fill(event))
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<howdah-{_identity(advisory)}@{hook.sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(_body(hook, event))
    try:
        with _connected(hook) as server:
            if hook.user is not None:
                server.login(hook.user, hook.password or "")
            server.send_message(mail, hook.sender, hook.recipients)
    except (OSError, smtplib.SMTPException) as error:
        # Not the error's own text: a server may repeat what it was sent.
        code = getattr(error, "smtp_code", None)
        said = f"answered {code}" if code else f"failed: {type(error).__name__}"
        raise HookFailed(f"mail server of {hook.name} {said}") from None


def _connected(hook: MailHook) -> smtplib.SMTP:
    if hook.security == "tls":
        return smtplib.SMTP_SSL(hook.host, hook.port, timeout=hook.timeout, context=hook.context)
    server = smtplib.SMTP(hook.host, hook.port, timeout=hook.timeout)
    if hook.security == "starttls":
        try:
            server.starttls(context=hook.context)
        except BaseException:
            server.close()
            raise
    return server


def _body(hook: MailHook, event: Event) -> str:
    if hook.body is not None:
        return hook.body.fill(event)
    names = [*(name for name in FIRST if name in event), *(name for name in event if name not in FIRST)]
    return "".join(f"{name}: {as_text(event[name])}\n" for name in names)


def _identity(advisory: Message) -> str:
    """Return a key that all tries of one advisory share; a replay by an administrator gets another."""
    return f"{advisory.message_id}-{advisory.stage}"
