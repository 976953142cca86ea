"""Fixtures for pytest. To use them: ``pytest_plugins = ["howdah.testing.plugin"]`` in the topmost conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from .databases import Databases, server


@pytest.fixture(scope="session")
def howdah_prepare() -> Callable[[str], object] | None:
    """Override this to make your own tables and queues: return a function that is called once with a DSN."""
    return None


@pytest.fixture(scope="session")
def howdah_databases(howdah_prepare: Callable[[str], object] | None) -> Iterator[Databases]:
    """Databases on the run's server: that of HOWDAH_TEST_DSN, or an embedded one."""
    with server() as dsn:
        databases = Databases(dsn, howdah_prepare)
        yield databases
        databases.close()


@pytest.fixture
def howdah_dsn(howdah_databases: Databases, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The DSN of the test's own database. HOWDAH_DSN names it too while the test runs."""
    with howdah_databases.new() as dsn:
        monkeypatch.setenv("HOWDAH_DSN", dsn)
        yield dsn
