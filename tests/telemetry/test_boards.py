"""The boards and alert rules name only metrics that there are, and their queries run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import howdah
from support import Clock, Db, deliver_and_fail, one, wait_until

from howdah.engine import connect
from howdah.telemetry.board import Board, Import, board
from howdah.telemetry.board import alerts as rules
from howdah.telemetry.families import SAMPLES
from howdah.telemetry.metrics import exposition

PANELS = {"timeseries", "stat", "table", "bargauge"}


def targets(name: Board) -> list[dict[str, Any]]:
    return [target for panel in board(name)["panels"] for target in panel["targets"]]


def alerts() -> dict[str, str]:
    """The expression of each alert."""
    return dict(re.findall(r"- alert: (\w+)\n +expr: (.+)", rules()))


def named(expression: str) -> set[str]:
    return set(re.findall(r"\bhowdah_\w+", expression))


@pytest.mark.parametrize("name", [Import.PROMETHEUS, Import.SQL])
def test_a_board_has_what_grafana_asks_of_one(name: Board) -> None:
    found = board(name)
    assert {"uid", "title", "schemaVersion", "panels", "templating", "time"} <= found.keys()
    assert found["templating"]["list"][0]["name"] == "datasource"
    panels = found["panels"]
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        assert panel["type"] in PANELS
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"] in {"short", "s", "ops"}
        assert panel["datasource"]["uid"] == "${datasource}"
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, f"{panel['title']} lies on another panel"
        taken |= cells
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references) > 0


@pytest.mark.parametrize("name", Import)
def test_howdah_board_prints_what_can_be_imported(name: Import, dsn: str) -> None:
    printed = howdah(dsn, "board", name)
    assert printed.code == 0
    assert printed.out == rules() if name is Import.ALERTS else printed.json == board(name)


def test_the_board_of_prometheus_asks_for_metrics_that_there_are() -> None:
    for target in targets(Import.PROMETHEUS):
        assert named(target["expr"]), target
        assert named(target["expr"]) <= SAMPLES.keys()


@pytest.mark.first_case
@pytest.mark.parametrize("hours", [1, 24, 168])
def test_each_query_of_the_sql_board_runs_as_who_may_only_browse(db: Db, hours: int) -> None:
    db.execute("set role howdah_browser")
    for target in targets(Import.SQL):
        query = target["rawSql"].replace("$__unixEpochFrom()", "0").replace("$__unixEpochTo()", str(hours * 3600))
        assert set(re.findall(r"'(howdah_\w+)'", query)) <= SAMPLES.keys()
        db.execute(query.encode())
    db.execute("reset role")


def test_the_sql_board_draws_what_came_in_over_the_past(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('q')")
    queries = {panel["title"]: panel["targets"][0]["rawSql"] for panel in board(Import.SQL)["panels"]}
    query = queries["In, out and failed"].replace("$__unixEpochFrom()", "0").replace("$__unixEpochTo()", "3600")

    def drawn() -> list[int]:
        """Messages a second at each minute, after one more."""
        db.execute("select howdah.maintain_backlog(), howdah.maintain_totals()")
        clock.advance(60)
        return [round(float(point[1])) for point in db.execute(query.encode()).fetchall()]

    drawn()
    for _ in range(5):
        one(db, "select howdah.send_batch('q', array_fill('x'::text, array[60]))")
        drawn()
    # Totals take in what came before the oldest open transaction, which may be another database's.
    wait_until(lambda: sum(drawn()) == 5)
    assert max(drawn()) < 5


def test_alerts_ask_for_metrics_that_there_are_and_say_what_to_do() -> None:
    text = rules()
    assert len(alerts()) == text.count("- alert:") == text.count("description: ") == text.count("severity: ")
    for name, expression in alerts().items():
        assert named(expression), name
        assert named(expression) <= SAMPLES.keys(), name


def promtool(*words: str | Path) -> None:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool (Debian: prometheus) is not installed")
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def rules_file(tmp_path: Path) -> Path:
    written = tmp_path / "alerts.yml"
    written.write_text(rules())
    return written


def test_prometheus_takes_the_alert_rules(rules_file: Path) -> None:
    promtool("check", "rules", rules_file)


def test_prometheus_parses_each_query_of_its_board(tmp_path: Path) -> None:
    rules = [
        f"      - record: board:panel{n}\n        expr: {json.dumps(of_an_hour(target['expr']))}\n"
        for n, target in enumerate(targets(Import.PROMETHEUS))
    ]
    written = tmp_path / "board.yml"
    written.write_text("groups:\n  - name: board\n    rules:\n" + "".join(rules))
    promtool("check", "rules", written)


def of_an_hour(expression: str) -> str:
    """A query as Grafana would send it."""
    return expression.replace("$__rate_interval", "1h").replace("$job", ".+")


FIRES = {
    "HowdahMessagesWait": ["howdah_oldest_message_age_seconds 601+0x30"],
    "HowdahDeadMessages": ['howdah_messages{state="dead"} 0x14 11x20'],
    "HowdahFailures": ['howdah_failures_total{error_class="E"} 0+20x30',
                       'howdah_messages_dequeued_total{outcome="consumed"} 0+60x30'],
    "HowdahNoWorkers": ["howdah_workers 0x30", 'howdah_messages{state="ready"} 1x30'],
    "HowdahSubscriptionLags": ['howdah_subscription_lag_seconds{subscription="t::s"} 3601+0x30'],
    "HowdahLinkAway": ['howdah_link_away_seconds{link="l"} 301+0x30'],
    "HowdahAuditFailed": ["howdah_audit_passed 0x30"],
    "HowdahVacuumHeldBack": ["howdah_vacuum_horizon_age_seconds 3601+0x30"],
    "HowdahNoMaintenance": ["howdah_totals_age_seconds 301+0x30"],
}  # fmt: skip
"""What makes each alert fire within 25 minutes, in promtool's notation of series by the minute."""


def test_each_alert_fires_for_what_it_warns_of_and_not_for_less(tmp_path: Path, rules_file: Path) -> None:
    assert FIRES.keys() == alerts().keys()
    tests = []
    for name, series in FIRES.items():
        firing, calm = [], []
        for sample in series:
            key, values = sample.split(" ", 1)
            firing.append({"series": key, "values": values})
            calm.append({"series": key, "values": "1x30"})
        tests.append({"interval": "1m", "input_series": calm, "promql_expr_test": [],
                      "alert_rule_test": [{"eval_time": "25m", "alertname": name, "exp_alerts": []}]})  # fmt: skip
        tests.append({"interval": "1m", "input_series": firing,
                      "promql_expr_test": [{"eval_time": "25m",
                                            "expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}})',
                                            "exp_samples": [{"labels": "{}", "value": 1}]}]})  # fmt: skip
    written = tmp_path / "tests.yml"
    written.write_text(json.dumps({"rule_files": [str(rules_file)], "evaluation_interval": "1m", "tests": tests}))
    promtool("test", "rules", written)


def scraped(db: Db, dsn: str) -> list[dict[str, str]]:
    """What the rules about waiting messages ask for, as it is now, for half an hour."""
    one(db, "select howdah.maintain_backlog()")
    with connect(dsn) as connection:
        lines = exposition(connection, queues=0).splitlines()
    asked = ("howdah_messages{", "howdah_oldest_message_age_seconds ", "howdah_workers ")
    samples = [line.rsplit(" ", 1) for line in lines if line.startswith(asked)]
    return [{"series": series, "values": f"{value}x30"} for series, value in samples]


def test_a_dead_message_does_not_fire_the_alerts_about_waiting_ones(
    db: Db, dsn: str, clock: Clock, tmp_path: Path, rules_file: Path
) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.send('q', 'x')")
    deliver_and_fail(db)
    clock.advance(86_400)
    dead = scraped(db, dsn)
    assert {"series": 'howdah_messages{state="dead"}', "values": "1x30"} in dead
    one(db, "select howdah.send('q', 'x')")
    clock.advance(3600)
    waiting = scraped(db, dsn)
    firing = 'count(ALERTS{alertname=~"HowdahMessagesWait|HowdahNoWorkers",alertstate="firing"})'
    tests = [{"interval": "1m", "input_series": series,
              "promql_expr_test": [{"eval_time": "25m", "expr": firing, "exp_samples": expected}]}
             for series, expected in ((dead, []), (waiting, [{"labels": "{}", "value": 2}]))]  # fmt: skip
    written = tmp_path / "tests.yml"
    written.write_text(json.dumps({"rule_files": [str(rules_file)], "evaluation_interval": "1m", "tests": tests}))
    promtool("test", "rules", written)
