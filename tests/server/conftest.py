"""Servers in a state that several modules need."""

from __future__ import annotations

import pytest
from levels import make_sleepy, open_db
from support import one

from howdah.engine.embedded import EmbeddedServer


@pytest.fixture(scope="module")
def sleepy_server(module_server: EmbeddedServer) -> EmbeddedServer:
    """A server whose WAL writer flushes every ten seconds at most, and nothing else flushes."""
    make_sleepy(module_server)
    with open_db(module_server) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.create_queue('spare')")
        one(db, "select howdah.create_topic('t')")
        db.execute("create table business (id integer primary key)")
    return module_server
