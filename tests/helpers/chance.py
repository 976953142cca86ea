"""Chance in tests: fixed seeds, so that a red run is the change's own fault.

HOWDAH_TEST_SEED=new takes new seeds (`make chaos`); HOWDAH_TEST_SEED=N repeats one. A test that fails prints the
command that repeats it (conftest.py).
"""

from __future__ import annotations

import os
import random

FIRST = 20_261_123
"""The first of the fixed seeds."""

_SEED = os.environ.get("HOWDAH_TEST_SEED", "")
NEW = _SEED == "new"
"""Whether this run takes new seeds."""
GIVEN = None if NEW or not _SEED else int(_SEED)
"""The seed that this run repeats; None if it repeats none."""

_used: list[int] = []


def use(number: int) -> int:
    """Remember a seed that is used from now on, for the report of a failure."""
    _used.append(number)
    print(f"HOWDAH_TEST_SEED={number}")
    return number


def seed() -> int:
    """The seed of a test that needs one."""
    return use(seeds(1)[0])


def seeds(number: int) -> list[int]:
    """The seeds of a test that runs several rounds.

    A given one as often as there are rounds, for sessions interleave by chance.
    """
    if NEW:
        return random.sample(range(2**32), number)
    if GIVEN is not None:
        return [GIVEN] * number
    return list(range(FIRST, FIRST + number))


def dice() -> random.Random:
    """A generator of its own, from the test's seed."""
    return random.Random(seed())


def forget() -> None:
    """Begin a test."""
    _used.clear()


def last_used() -> int | None:
    """The seed that the running test used last; None if it used none."""
    return _used[-1] if _used else None
