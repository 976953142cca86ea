"""The demo on the first flights of the file: what it checks, and its exit codes."""

import os
import re
import subprocess
import sys

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


def test_the_demo_checks_the_result_against_the_file(server: Server) -> None:
    shown = demo(server, "--no-audit")
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


def test_without_an_audit_the_demo_does_the_rest_and_has_its_own_exit_code(server: Server) -> None:
    shown = demo(server, "--jdbc-jar", "/nowhere.jar")
    assert shown.returncode == 4, shown.stdout + shown.stderr
    assert "nothing was audited" in shown.stdout
