"""What is installed is what tests/schema.sql says, so that a change shows in review."""

import difflib

import pytest
from installed_schema import FILE, VERSION, dump
from support import Server


def test_the_installed_schema_is_as_committed(server: Server, dsn: str) -> None:
    if server.embedded is None or server.embedded.version != VERSION:
        pytest.skip(f"compared on the embedded PostgreSQL {VERSION} only")
    committed, installed = (
        text.splitlines() for text in (FILE.read_text(encoding="utf-8"), dump(dsn, server.embedded.bin("pg_dump")))
    )
    changes = list(difflib.unified_diff(committed, installed, "tests/schema.sql", "installed", lineterm="", n=1))
    assert changes == [], "tests/schema.sql is stale: make schema"
