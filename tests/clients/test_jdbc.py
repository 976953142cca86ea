"""A client that is not Python: Scenario.java runs against the test's database through plain JDBC."""

from __future__ import annotations

import subprocess
from pathlib import Path
from urllib.parse import urlencode

import pytest
import runtimes
from psycopg.conninfo import conninfo_to_dict
from support import Db, column, one

SCENARIO = Path(__file__).with_name("Scenario.java")


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-02")
def test_a_messages_life_through_jdbc(dsn: str, db: Db) -> None:
    java, jdbc_jar = runtimes.java(), runtimes.jdbc_jar()
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    account = urlencode({"user": parts["user"], "password": parts.get("password", "")})
    url = f"jdbc:postgresql://{parts['host']}:{parts['port']}/{parts['dbname']}?{account}"
    done = subprocess.run(
        [java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8", "-cp", jdbc_jar, SCENARIO, url],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "the scenario went well" in done.stdout
    assert column(db, "select note from account") == ["high"]
    assert column(db, "select error_class from howdah.poison_details") == ["java.lang.IllegalStateException"]
    assert one(db, "select sum(cardinality(message_ids)) from howdah.journal where event = 'consumed'") == 5
    assert one(db, "select count(*) from howdah.msgs") == 0
