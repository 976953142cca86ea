"""The demo on the first flights of the file: what it checks, and its exit codes."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from command import howdah, start
from pages import ROOT
from psycopg.conninfo import make_conninfo
from support import Server

from howdah.cli.demo import flights, report, run, stage
from howdah.cli.demo.command import VERDICTS
from howdah.engine.errors import HowdahError
from howdah.text.passfile import accessible


def demo(server: Server, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    small = ("--dsn", make_conninfo(server.dsn), "--limit", "2000", "--processes", "1")
    return subprocess.run(
        [sys.executable, "-m", "howdah.cli.main", "demo", *small, *arguments],
        env=os.environ | {"COLUMNS": "160"} | environment,
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
    assert "Every statement holds." in shown.stdout
    assert "2,000 = 1,974 + 26" in shown.stdout
    assert re.search(r"worker process \d+ is killed", shown.stdout)
    assert re.search(r"yes │ subscriber board got every late flight, once +│ (\d+) of \1 ", shown.stdout)
    assert re.search(
        r"yes │ subscriber compensation got every late flight with delay > 180, once +│ (\d+) of \1 ", shown.stdout
    )
    causes = shown.stdout.split("Why flights failed")[1]
    assert re.search(r"\b(\d+) │ +\1 │ Cancelled: flight .* has no departure delay", causes)
    tries = re.search(r"\b(\d+) │ +(\d+) │ ValueError: flight .* has no arrival delay", causes)
    assert tries is not None
    # Each session of the worker that is killed may have one of them in its hands: its death counts as that try.
    assert flights.TRIES * int(tries[2]) - int(tries[1]) in (0, 1, 2)


@pytest.mark.slow
def test_progress_is_told_step_by_step_and_begins_before_there_is_a_server(
    shown: subprocess.CompletedProcess[str],
) -> None:
    steps = [line for line in shown.stdout.splitlines() if re.match(r"\d\. ", line)]
    assert [step[0] for step in steps] == ["1", "2", "3"]
    assert re.search(r"^ +\d+ s: 2,000 sent, 2,000 handled or set aside$", shown.stdout, re.MULTILINE)
    nowhere = subprocess.run(
        [sys.executable, "-m", "howdah.cli.main", "demo", "--dsn", "postgresql://127.0.0.1:1/nothing"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert nowhere.returncode == 3, nowhere
    assert nowhere.stdout.startswith("Howdah demo: each flight")
    assert "1. Start PostgreSQL" in nowhere.stdout


def test_only_a_dsn_on_the_command_line_has_the_demo_work_on_another_server(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[str] = []

    def prepare(dsn: str) -> str:
        prepared.append(dsn)
        raise HowdahError("no demo today")

    info = SimpleNamespace(dsn="host=embedded", version="18.0", port=1, data="/data")
    embedded = SimpleNamespace(status=lambda: info, start=lambda: info)
    monkeypatch.setattr(stage, "prepare", prepare)
    monkeypatch.setattr("howdah.engine.embedded.EmbeddedServer", lambda: embedded)
    assert "no demo today" in howdah(server.dsn, "demo").err
    assert "no demo today" in howdah("host=elsewhere", "demo", "--dsn", server.dsn).err
    assert prepared == [info.dsn, accessible(server.dsn)]


@cache
def ideal(year: bool = False) -> run.Run:
    """The run that the file asks for."""
    expected = flights.Expected()
    for row, flight in flights.read(year):
        expected.add(row, flight)
    usable = expected.flights - len(expected.unusable)
    longest = {row: delay for row, delay in expected.late.items() if delay > flights.COMPENSATED_MINUTES}
    outcome = stage.Outcome(
        totals=dict(expected.totals),
        different=usable,
        dead=set(expected.unusable),
        incidents=dict(expected.unusable),
        killed_in_handler=0,
        sent=expected.flights,
        consumed=usable,
        consumed_distinct=usable,
        left=0,
        told={
            name: (list(rows), sum(rows.values()))
            for name, rows in (("board", expected.late), ("compensation", longest))
        },
        causes=[{"dead": len(expected.unusable)}],
    )
    return run.Run(expected, outcome, seconds=1, killed_pid=1)


@pytest.mark.slow
def test_the_year_has_as_many_flights_as_the_demo_says() -> None:
    assert ideal(year=True).expected.flights == flights.YEAR


def test_the_readme_shows_what_the_demo_proves() -> None:
    done = ideal()
    assert done.expected.flights == flights.QUARTER
    assert all(check.holds for check in report.checks(done))
    said = [" ".join(pair) for pair in report.proved(done)]
    assert "\n".join(["```text", *said, VERDICTS[0] + " …", "```"]) in (ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (lambda outcome: replace(outcome, consumed=outcome.consumed - 1), "flights sent = handled"),
        (lambda outcome: replace(outcome, left=1), "nothing is left"),
        (lambda outcome: replace(outcome, different=outcome.different - 1), "no flight was handled twice"),
        (lambda outcome: replace(outcome, totals={**outcome.totals, "UA": (1, 1, 1)}), "every airline's delays"),
        (lambda outcome: replace(outcome, dead={*outcome.dead, 0}), "the flights set aside"),
        (lambda outcome: replace(outcome, incidents=dict.fromkeys(outcome.incidents, 0)), "each has all its failed"),
        (lambda outcome: replace(outcome, causes=[]), "the causes of failure"),
        (lambda outcome: replace(outcome, told={"board": ([1, 1], 2)}), "subscriber board"),
    ],
)
def test_what_does_not_hold_is_found(change: Callable[[stage.Outcome], stage.Outcome], broken: str) -> None:
    done = ideal()
    wrong = replace(done, outcome=change(done.outcome))
    assert any(check.statement.startswith(broken) for check in report.checks(wrong) if not check.holds)


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
