"""Writes the reference of the SQL API from the headers of the procedures, a page for each group: ``make docs``.

``python -m howdah.procedures.reference FOLDER`` writes the pages into a folder. docs/sql-api.md comes before them: it
is written by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from .contents import FILES, source
from .parser import first_paragraph

TITLES = {
    "destinations": "Destinations",
    "aliases": "Aliases and levels of reliability",
    "access": "Access rules",
    "temporary": "Temporary queues",
    "selectors": "Selectors",
    "topics": "Topics and subscriptions",
    "send": "Sending",
    "schedules": "Schedules and delayed messages",
    "receive": "Receiving",
    "consumers": "Consumers",
    "leases": "Leases",
    "failure": "Failures",
    "log": "The log",
    "listeners": "Listeners",
    "links": "Links",
    "operator": "The operator",
    "engine": "The engine as a whole",
    "services": "Services",
    "inspect": "Looking",
    "search": ("search",),
