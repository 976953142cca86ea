"""A function is registered as a handler if a call with a message and a transaction runs it."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from async_handlers_support import Brewer, brew

from howdah.workers import App, AppError, Message, Transaction


def test_functions_that_a_call_does_not_run_are_refused_at_registration() -> None:
    def generator(message: Message, transaction: Transaction) -> Iterator[int]:
        yield 1

    async def stream(message: Message, transaction: Transaction) -> AsyncIterator[int]:
        yield 1

    app = App("shop")
    for handler, said in (
        (generator, "a generator function"),
        (stream, "an async generator function"),
        (5, "callable"),
    ):
        for register in (app.handler("orders"), app.subscribe("topic", name="s")):
            with pytest.raises(AppError, match=said):
                register(handler)  # type: ignore[arg-type]
    assert app.bindings == {}


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (lambda message: None, "does not take a message and a transaction: too many positional arguments"),
        (lambda message, transaction, db: None, "missing a required argument: 'db'"),
        (lambda message, *, transaction: None, "does not take"),
        (Brewer, "Brewer does not take"),
    ],
)
def test_functions_that_take_other_arguments_are_refused_at_registration(handler: Any, said: str) -> None:
    app = App("shop")
    with pytest.raises(AppError, match=said):
        app.handler("orders")(handler)
    assert app.bindings == {}


def test_functions_that_can_be_called_with_a_message_and_a_transaction_are_taken() -> None:
    def injected(message: Message, transaction: Transaction, db: object) -> None: ...

    @functools.wraps(injected)
    def wrapper(message: Message, transaction: Transaction) -> None:
        injected(message, transaction, None)

    app = App("shop")
    optional: list[Any] = [wrapper, lambda *both: None, lambda m, t, more=1: None, max, Brewer()]
    for number, handler in enumerate([*optional, functools.partial(injected, db=None)]):
        app.handler(f"queue-{number}")(handler)
    assert len(app.bindings) == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"queue": brew}, "queue must be a text, not <function brew"),
        ({"message_type": 5}, "message_type must be a text, not 5"),
        ({"listener": App}, "listener must be a text"),
        ({"batch": "10"}, "batch must be 1 to 10000, not '10'"),
        ({"batch": 0}, "batch must be 1 to 10000, not 0"),
    ],
)
def test_what_is_no_name_or_number_is_refused_at_registration(options: dict[str, Any], said: str) -> None:
    with pytest.raises(AppError, match=said):
        App("shop").handler(**{"queue": "orders"} | options)
