"""The real pgmq and the facade, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from pgmq_worlds import BEGIN, Worlds, install_facade, install_real


@pytest.fixture
def worlds(new_database: Callable[[], str], dsn: str) -> Iterator[Worlds]:
    """Two new databases whose clocks stand still."""
    real = new_database()
    install_real(real)
    install_facade(dsn)
    with psycopg.connect(real, autocommit=True) as there, psycopg.connect(dsn, autocommit=True) as here:
        made = Worlds(there, here)
        made.set_clock(BEGIN)
        yield made
