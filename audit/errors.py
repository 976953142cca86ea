"""The one error of an audit that could not be made."""

from __future__ import annotations


class AuditError(Exception):
    """The audit could not be made; the message says why and what to do. Findings of an audit are no errors."""
