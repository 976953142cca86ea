"""The error of an impossible audit, and the cause of Spark's failures."""

from __future__ import annotations


class AuditError(Exception):
    """The audit was impossible. The message says why and what to do. Findings of an audit are not errors."""


def reason(error: Exception) -> str:
    """The first line of the innermost cause that a Spark error tells."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or [type(error).__name__])[-1 if causes else 0]
