"""Handlers that reject and retry, by raising and by rules."""

from __future__ import annotations

import os

import psycopg
from workapp import effect, say  # type: ignore[import-not-found]  # found by the worker only

from howdah.workers import App, Message, Reject, Retry, Rule, Transaction
from howdah.workers.transaction import RollbackOnly

app = App("outcomes")


class Wrong(ValueError):
    """The base of what is wrong."""


class Odd(Wrong):
    """More specific."""


RULES: list[Rule] = [
    (Wrong, Reject("wrong for good")),
    ((Odd, TimeoutError), Retry(after=0)),
    (KeyError, "reject"),
    ((psycopg.errors.UniqueViolation, RollbackOnly), Reject("cannot be committed")),
    (psycopg.errors.SerializationFailure, Reject),
]


def work(message: Message, transaction: Transaction) -> None:
    """Do what the body says."""
    effect(message, transaction)
    if message.body == "plain":
        return
    say(message, transaction)
    again = message.delivery_count > 1
    match message.body:
        case "reject":
            raise Reject("unusable")
        case "reject-from":
            try:
                raise LookupError("no such thing")
            except LookupError as error:
                raise Reject("unusable") from error
        case "reject-deadlock":
            try:
                transaction.connection.execute("do $$ begin raise 'x' using errcode = '40P01'; end $$")
            except psycopg.Error as error:
                raise Reject("always the same deadlock") from error
        case "reject-after-rollback":
            transaction.connection.rollback()
            raise Reject("undone by itself")
        case "retry":
            raise Retry(after=3600, reason="not yet")
        case "retry-by-policy" if not again:
            raise Retry
        case "retry-at-once" if not again:
            raise Retry(after=0)
        case "wrong":
            raise Wrong("by rule")
        case "odd":
            raise Odd("by a rule of its own")
        case "key":
            raise KeyError("by a word")
        case "rollback-only":
            transaction.set_rollback_only()
        case "commit":
            transaction.connection.execute("insert into work.checked values (1)")
        case "reject-wins":
            raise Retry(after=3600) from Wrong("not by rule")
        case "innocent" if _first():
            transaction.connection.execute("do $$ begin raise 'x' using errcode = '40001'; end $$")


def _first() -> bool:
    """Once only, and outside the transaction."""
    with psycopg.connect(os.environ["HOWDAH_DSN"], autocommit=True) as outside:
        return outside.execute("insert into work.once values (1) on conflict do nothing").rowcount == 1


app.handler("work", batch=100, rules=RULES)(work)
app.handler("single", batch=1, rules=RULES)(work)
