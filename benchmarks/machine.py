"""Where and with what a run was made."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def about(size: str, rounds: int, settings: dict[str, str]) -> dict[str, Any]:
    """What the page's head says. It names neither host nor user."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "size": size,
        "rounds": rounds,
        "machine": {
            "processor": _processor(),
            "cores": len(os.sched_getaffinity(0)),
            "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
            "system": f"{platform.system()} {platform.release().split('-')[0]}",
        },
        "load before": os.getloadavg()[1],
        "versions": {
            "Howdah": _version("howdah"),
            "PostgreSQL": settings.pop("server_version"),
            "Python": sys.version.split()[0],
            "psycopg": _version("psycopg"),
        },
        "server": settings,
        "body": "64 bytes unless a case says otherwise",
        "journal_level": "exits, the default, unless a row says otherwise",
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
