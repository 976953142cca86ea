"""The demo on the first flights of the file: what it checks, and its exit codes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from command import start
from psycopg.conninfo import make_conninfo
from support import Server


def demo(server: Server, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "howdah.cli.main", "demo", "--limit", "2000", "--processes", "1", *arguments],
        env=os.environ | {"HOWDAH_DSN": make_conninfo(server.dsn), "COLUMNS": "160"} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def shown(server: Server) -> subprocess.CompletedProcess[str]:
    """The demo without an audit; its database stays until the next one."""
    return demo(server, "--no-audit")


def test_the_demo_checks_the_result_against_the_file(shown: subprocess.CompletedProcess[str]) -> None:
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "All holds." in shown.stdout
    assert "2,000 = 1,974 + 26" in shown.stdout
    assert "killed worker process" in shown.stdout
    assert re.search(r"yes │ subscription board got every late flight, once +│ (\d+) of \1 ", shown.stdout)
    assert re.search(
        r"yes │ subscription compensation got every late flight of delay > 180, once +│ (\d+) of \1 ", shown.stdout
    )
    causes = shown.stdout.split("Top causes of the dead flights")[1]
    assert re.search(r"\b(\d+) │ +\1 │ ValueError: flight .* has no departure delay", causes)
    assert re.search(r"\b(\d+) │ +\1 │ ValueError: flight .* has no arrival delay", causes)


@pytest.mark.slow
def test_an_audit_of_the_demo_has_a_page_and_code_0_and_code_1_once_a_message_is_taken_out(
    shown: subprocess.CompletedProcess[str], server: Server, tmp_path: Path
) -> None:
    pytest.importorskip("pyspark")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    dsn = make_conninfo(server.dsn, dbname="howdah_demo")

    def audit(*options: object) -> tuple[int, str]:
        ran = start(dsn, "audit", "--master", "local[2]", "--partitions", "2", *options)
        said, wrong = ran.communicate(timeout=500)
        return ran.returncode, said.decode() + wrong.decode()

    page = tmp_path / "page.html"
    code, said = audit("--page", page)
    assert code == 0, said
    assert "Every message is accounted for." in said
    assert re.search(r"^│ flights .*\n│ proved ", said, re.MULTILINE)
    assert re.search(r"Top cause of failure: ValueError", said)
    assert "</html>" in page.read_text()

    with psycopg.connect(dsn, autocommit=True) as db:
        gone = db.execute(
            "delete from howdah.msgs where message_id = (select min(message_id)"
            " from howdah.audit_messages where state = 'dead')"
            " returning message_id"
        ).fetchone()
    assert gone is not None
    code, said = audit()
    assert code == 1, said
    assert "missing" in said
    assert str(gone[0]) in said


@pytest.mark.slow
def test_without_an_audit_the_demo_does_the_rest_and_has_its_own_exit_code(server: Server) -> None:
    shown = demo(server, "--jdbc-jar", "/nowhere.jar")
    assert shown.returncode == 4, shown.stdout + shown.stderr
    assert "nothing was audited" in shown.stdout
