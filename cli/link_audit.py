"""howdah audit --link: audit both sides of links. It needs no Spark."""

from __future__ import annotations

import typer

from . import output
from .common import FAILED, OK


def audit_links(dsn: str, links: list[str], *, as_json: bool) -> int:
    """Audit each NAME=SERVICE, show what was found, and return the exit code."""
    from psycopg.conninfo import make_conninfo

    from ..workers.links.audit import audit_link

    named = [link.partition("=") for link in links]
    if not all(name and service for name, _, service in named):
        raise typer.BadParameter("write NAME=SERVICE", param_hint="--link")
    audits = [audit_link(name, dsn, make_conninfo("", service=service)) for name, _, service in named]
    if as_json:
        output.write(output.to_json([audit.to_dict() for audit in audits]))
    else:
        for audit in audits:
            sums = f"{audit.arrived} arrived = {audit.forwarded} forwarded + {audit.in_transit} in transit"
            if audit.lost:
                sums += f" + {audit.lost} lost at the sender"
            output.write(f"link {audit.link}: {'; '.join(audit.findings) or sums}")
    return FAILED if any(audit.findings for audit in audits) else OK
