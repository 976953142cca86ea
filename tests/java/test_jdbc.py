"""A client that is not Python: Scenario.java runs against the test's database through plain JDBC."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict
from support import Db, column, one

SCENARIO = Path(__file__).with_name("Scenario.java")


def java_with_compiler() -> Path | None:
    """A Java that runs source files: 17 or later, with the compiler's module, which a JRE lacks."""
    candidates = [os.path.join(os.environ["JAVA_HOME"], "bin", "java")] if "JAVA_HOME" in os.environ else []
    candidates += [found] if (found := shutil.which("java")) else []
    for java in candidates:
        try:
            done = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if "jdk.compiler@" in done.stdout:
            return Path(java)
    return None


@pytest.fixture
def java() -> Path:
    """The JDK's program, or a skip that says what to install."""
    found = java_with_compiler()
    if found is None:
        pytest.skip("no JDK: on Debian, apt-get install default-jdk-headless")
    return found


@pytest.fixture
def jdbc_jar() -> Path:
    """PostgreSQL's JDBC driver, or a skip that says what to install."""
    for jar in (os.environ.get("HOWDAH_JDBC_JAR"), "/usr/share/java/postgresql.jar"):
        if jar and Path(jar).is_file():
            return Path(jar)
    pytest.skip("no JDBC driver: on Debian, apt-get install libpostgresql-jdbc-java; elsewhere set HOWDAH_JDBC_JAR")


@pytest.mark.behaviour("AMQ-02")
def test_a_messages_life_through_jdbc(dsn: str, db: Db, java: Path, jdbc_jar: Path) -> None:
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
