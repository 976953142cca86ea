"""A part of many cases for each run; the others are left to `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest


def thinned(cases: Iterable[Any], every: int) -> list[Any]:
    """Each case, in order; only every n-th one is not marked slow. A case of several arguments is a tuple or list."""
    kept = []
    for number, case in enumerate(cases):
        values = case if isinstance(case, tuple | list) else (case,)
        kept.append(pytest.param(*values, marks=() if number % every == 0 else pytest.mark.slow))
    return kept


def grid(*values: Iterable[Any], every: int) -> list[Any]:
    """The same of all combinations.

    With an ``every`` that has no factor in common with the numbers of values each value is kept.
    """
    return thinned(product(*values), every)
