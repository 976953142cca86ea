"""What tests of procedures can ask for besides the database."""

from __future__ import annotations

from typing import Any

import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Db, one


@pytest.fixture
def create(db: Db) -> Create:
    """Create a queue, q unless told otherwise."""

    def make(name: str = "q", **options: Any) -> None:
        one(db, "select howdah.create_queue(%s, %s)", (name, Jsonb(options)))

    return make
