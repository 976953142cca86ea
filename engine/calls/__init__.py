"""The only door to the SQL API: each function here names a procedure, binds its arguments and decodes its result.

A ``Call`` does nothing by itself. ``..database.runner`` executes it on any connection, sync or async, so that no logic
is written twice.
"""

from .call import AnyCursor, Call, Row, Rows, Seconds, T, interval, messages_of, scalar, table
from .failures import Incident, handled_as, record_failures, settle_failures
from .receiving import (
    Asked,
    Attempt,
    begin_attempts,
    browse,
    cancel_attempt,
    consume_locked,
    receive,
    receive_attempt,
    receive_correlated,
    receive_message,
    wait,
)
from .sending import send, send_count, send_many

__all__ = [
    "AnyCursor",
    "Asked",
    "Attempt",
    "Call",
    "Incident",
    "Row",
    "Rows",
    "Seconds",
    "T",
    "begin_attempts",
    "browse",
    "cancel_attempt",
    "consume_locked",
    "handled_as",
    "interval",
    "messages_of",
    "receive",
    "receive_attempt",
    "receive_correlated",
    "receive_message",
    "record_failures",
    "scalar",
    "send",
    "send_count",
    "send_many",
    "settle_failures",
    "table",
    "wait",
]
