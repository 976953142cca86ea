"""Boards for Grafana: one on Prometheus, and one on PostgreSQL alone."""

from __future__ import annotations

import tomllib
from enum import StrEnum
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

_FOLDER = Path(__file__).with_name("boards")

_COLUMNS, _WIDTH, _HEIGHT = 24, 12, 8
"""Grafana's grid: its columns, those of a usual panel, and the rows of each."""

_JOB = {"name": "job", "type": "query", "label": "Job", "query": "label_values(howdah_queues, job)", "refresh": 2,
        "multi": True, "includeAll": True, "allValue": ".+", "current": {}}  # fmt: skip
"""The variable by which the reader of a board chooses among several scraped databases."""


class Import(StrEnum):
    """What there is to import: boards by what they read, and alert rules."""

    PROMETHEUS = "prometheus"
    SQL = "sql"
    ALERTS = "alerts"


Board = Literal[Import.PROMETHEUS, Import.SQL]


def board(name: Board) -> dict[str, Any]:
    """A board as Grafana imports it. It asks for its data source."""
    panels = tomllib.loads((_FOLDER / "panels.toml").read_text())[name]
    live = name is Import.PROMETHEUS
    kind = "prometheus" if live else "grafana-postgresql-datasource"
    source = {"name": "datasource", "type": "datasource", "query": kind, "label": "Data source"}
    chosen = {"type": kind, "uid": "${datasource}"}  # by the reader of the board
    return {
        "uid": f"howdah-{name}",
        "title": "Howdah" if live else "Howdah (SQL)",
        "tags": ["howdah"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s" if live else "1m",
        "time": {"from": "now-6h" if live else "now-1h", "to": "now"},
        "timezone": "browser",
        "templating": {
            "list": [source | {"current": {}, "hide": 0}, *([_JOB | {"datasource": chosen}] if live else [])]
        },
        "annotations": {"list": []},
        "panels": [_panel(live, chosen, panel) | place for panel, place in zip(panels, _places(panels), strict=True)],
    }


def alerts() -> str:
    """The rules for Prometheus, in YAML."""
    return (_FOLDER / "alerts.yml").read_text()


def _places(panels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where each panel lies: from left to right, and from top to bottom."""
    places = []
    x = y = 0
    for number, panel in enumerate(panels, start=1):
        width = panel.get("width", _WIDTH)
        if x + width > _COLUMNS:
            x, y = 0, y + _HEIGHT
        places.append({"id": number, "gridPos": {"x": x, "y": y, "w": width, "h": _HEIGHT}})
        x += width
    return places


def _panel(live: bool, source: dict[str, str], panel: dict[str, Any]) -> dict[str, Any]:
    kind = panel.get("kind", "timeseries")
    if live:
        asked = [{"expr": text.strip(), "legendFormat": legend} for legend, text in panel["queries"].items()]
    else:
        form = "time_series" if kind == "timeseries" else "table"
        asked = [{"format": form, "rawQuery": True, "rawSql": panel["query"].strip(), "editorMode": "code"}]
    return {
        "type": kind,
        "title": panel["title"],
        "description": panel["description"],
        "datasource": source,
        "fieldConfig": {"defaults": {"unit": panel.get("unit", "short")}, "overrides": []},
        "targets": [
            {"refId": letter, "datasource": source} | query
            for letter, query in zip(ascii_uppercase, asked, strict=False)
        ],
    }
