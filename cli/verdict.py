"""What commands that prove something end with if they could not prove it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from . import output
from .common import NOT_READY, UsageError, describe


@contextmanager
def no_verdict() -> Iterator[None]:
    """End with 3 after an error: FAILED says that there is a verdict, and it is bad."""
    try:
        yield
    except (typer.Exit, typer.Abort, UsageError):
        raise
    except Exception as error:
        known = describe(error)
        if known is None:
            traceback.print_exc()
        else:
            output.complain(known[0])
        raise typer.Exit(NOT_READY) from error
