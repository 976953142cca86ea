"""The spans of workers: each call of a handler, in the sender's trace or linked to it, and the trace of a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry import baggage, trace
from opentelemetry.trace import SpanKind
from support import Db, column, one
from traced import Recording, linked, number_of, recording, trace_of
from workers_support import Work

from howdah.engine import connect
from howdah.testing import drain
from howdah.workers import App, Message, Transaction, delivery

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


@pytest.fixture
def traced() -> Iterator[Recording]:
    """What the test's process tells OpenTelemetry."""
    with recording() as made:
        yield made


class Kitchen:
    """An app whose handlers note the trace in which they run."""

    def __init__(self) -> None:
        self.traces: list[str] = []
        self.tenants: list[object] = []
        self.app = App("kitchen")
        self.app.handler("work")(self.cook)
        self.app.handler("single")(self.serve)

    def cook(self, message: Message, transaction: Transaction) -> None:
        self.note()
        if message.body == "burnt" and not message.redelivered:
            raise ValueError("burnt")
        transaction.session.send("single", "dish")

    async def serve(self, message: Message, transaction: Transaction) -> None:
        self.note()

    def note(self) -> None:
        self.traces.append(f"{trace.get_current_span().get_span_context().trace_id:032x}")
        self.tenants.append(baggage.get_baggage("tenant"))


def send(db: Db, body: str, headers: str = f'{{"traceparent": "{PARENT}", "baggage": "tenant=blue"}}') -> None:
    one(db, "select howdah.send('work', %s::text, headers => %s::jsonb)", (body, headers))


def test_a_trace_goes_from_plain_sql_through_two_handlers(jobs: Work, dsn: str, traced: Recording) -> None:
    """The second is asynchronous, and gets what the first one sent."""
    kitchen = Kitchen()
    send(jobs.db, "soup")
    drain(kitchen.app, dsn, check=False)
    assert kitchen.traces == [TRACE, TRACE]
    assert kitchen.tenants == ["blue", "blue"]
    cook, sent, serve = traced.span("process work"), traced.span("send single"), traced.span("process single")
    assert [cook.kind, serve.kind] == [SpanKind.CONSUMER] * 2
    parents = [span.parent.span_id for span in (cook, sent, serve) if span.parent is not None]
    assert parents == [0xB7AD6B7169203331, number_of(cook), number_of(sent)]
    assert (cook.attributes or {})["howdah.delivery_count"] == 1
    assert traced.metric("messaging.client.consumed.messages") == 2
    assert traced.metric("messaging.process.duration", messaging_destination_name="work") == 1


def test_a_later_delivery_begins_a_trace_that_links_to_the_senders(jobs: Work, dsn: str, traced: Recording) -> None:
    kitchen = Kitchen()
    send(jobs.db, "burnt")
    drain(kitchen.app, dsn, check=False)
    first, second = traced.spans("process work")
    assert (trace_of(first), first.parent is not None, linked(first)) == (TRACE, True, [])
    assert (second.parent, linked(second)) == (None, [0xB7AD6B7169203331])
    assert kitchen.traces == [TRACE, trace_of(second), trace_of(second)]
    assert kitchen.tenants == ["blue"] * 3
    assert (first.attributes or {})["error.type"] == "ValueError"
    assert traced.metric("messaging.process.duration", error_type="ValueError") == 1


def messages_of(traced: Recording, name: str) -> list[tuple[int, list[int]]]:
    """How many messages each span of a name had, and what it links to."""
    spans = traced.spans(name)
    assert {span.kind for span in spans} <= {SpanKind.CLIENT}
    return [(int(str((span.attributes or {}).get("messaging.batch.message_count", 1))), linked(span)) for span in spans]


@pytest.mark.first_case
@pytest.mark.parametrize("options", ["{}", '{"backout_count": "hardened"}'])
def test_a_worker_makes_spans_of_receiving_and_settling_that_lead_to_the_sender(
    jobs: Work, dsn: str, traced: Recording, options: str
) -> None:
    one(jobs.db, "select howdah.alter_queue('work', %s)", (options,))
    for _ in range(3):
        send(jobs.db, "soup")
    drain(Kitchen().app, dsn, check=False)
    for name, kind in (("receive work", "receive"), ("commit work", "settle")):
        found = messages_of(traced, name)
        assert sum(count for count, _ in found) == 3
        assert all(links == [0xB7AD6B7169203331] * count for count, links in found)
        attributes = dict(traced.spans(name)[0].attributes or {})
        assert attributes["messaging.operation.type"] == kind
        assert attributes["messaging.destination.name"] == "work"
        assert attributes["server.address"]
    assert traced.spans("rollback work") == []
    assert traced.metric("messaging.client.consumed.messages", messaging_destination_name="work") == 3
    for name in ("receive", "commit"):
        ended = traced.metric("messaging.client.operation.duration", messaging_operation_name=name)
        assert ended == len(traced.spans(f"{name} work")) + len(traced.spans(f"{name} single"))


def test_a_failed_batch_is_rolled_back_and_each_delivery_settled_once(jobs: Work, dsn: str, traced: Recording) -> None:
    for body in ("soup", "burnt", "soup"):
        send(jobs.db, body)
    drain(Kitchen().app, dsn, check=False)
    received = sum(count for count, _ in messages_of(traced, "receive work"))
    ends = [messages_of(traced, f"{how} work") for how in ("commit", "rollback")]
    committed, rolled_back = (sum(count for count, _ in found) for found in ends)
    assert rolled_back >= 1
    assert committed + rolled_back == received
    assert traced.metric("messaging.client.consumed.messages", messaging_destination_name="work") == received
    assert [span.status.is_ok for name in ("commit work", "rollback work") for span in traced.spans(name)]
    assert column(jobs.db, "select count(*) from howdah.browse('work')") == [0]


def test_a_best_effort_message_is_settled_before_its_handler_runs(jobs: Work, dsn: str, traced: Recording) -> None:
    one(
        jobs.db,
        "select howdah.send('work', 'soup'::text, reliability => 'BEST_EFFORT_NONPERSISTENT', headers => %s::jsonb)",
        (f'{{"traceparent": "{PARENT}"}}',),
    )
    drain(Kitchen().app, dsn, check=False)
    names = [name for name in traced.names() if name.endswith(" work")]
    assert names == ["receive work", "commit work", "process work"]


def test_a_state_and_baggage_go_with_the_trace_through_a_handler(jobs: Work, dsn: str, traced: Recording) -> None:
    headers = f'{{"traceparent": "{PARENT}", "tracestate": "shop=7,bank=x", "baggage": "tenant=blue,tier=2"}}'
    send(jobs.db, "soup", headers)
    app = App("kitchen")
    app.handler("work")(Kitchen().cook)
    drain(app, dsn, check=False)
    with connect(dsn) as connection, connection.session() as session:
        (dish,) = session.receive("single")
        session.commit()
    assert dish.headers["tracestate"] == "shop=7,bank=x"
    assert dict(pair.split("=") for pair in str(dish.headers["baggage"]).split(",")) == {"tenant": "blue", "tier": "2"}
    assert dish.headers["traceparent"].split("-")[1] == TRACE
    assert str(traced.span("process work").context.trace_state.to_header()) == "shop=7,bank=x"


def test_without_a_provider_a_worker_makes_nothing_that_could_trace(
    jobs: Work, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        pytest.fail("nobody traces")

    monkeypatch.setattr(delivery, "TracedBurst", never)
    send(jobs.db, "soup")
    drain(Kitchen().app, dsn, check=False)
    assert column(jobs.db, "select count(*) from howdah.browse('work')") == [0]


def test_an_incident_holds_the_trace_and_span_of_its_attempt(jobs: Work, dsn: str, traced: Recording) -> None:
    send(jobs.db, "burnt", "{}")
    drain(Kitchen().app, dsn, check=False)
    first, _ = traced.spans("process work")
    details = column(jobs.db, "select details from howdah.poison_details")
    assert details == [{"trace_id": trace_of(first), "span_id": f"{number_of(first):016x}"}]


@pytest.mark.slow
def test_a_worker_uses_the_providers_of_its_application(jobs: Work, dsn: str) -> None:
    """A program of its own: a process has its global providers for good."""
    send(jobs.db, "soup")
    command = [sys.executable, "-m", "howdah.cli.main", "worker", "tracedapp:app", "--until-empty"]
    subprocess.run(command, env=os.environ | {"HOWDAH_DSN": dsn}, check=True, capture_output=True, timeout=60)
    assert len(jobs.effects()) == 1
    (details,) = column(jobs.db, "select details from howdah.poison_details")
    assert details["trace_id"] == TRACE
    assert details["span_id"] not in PARENT
    with connect(dsn) as connection, connection.session() as session:
        (sent,) = session.receive("single")
        assert sent.headers["traceparent"].split("-")[1] not in (TRACE, "0" * 32)
        session.rollback()


def test_without_a_provider_an_incident_names_the_senders_trace(jobs: Work, dsn: str) -> None:
    kitchen = Kitchen()
    send(jobs.db, "burnt")
    drain(kitchen.app, dsn, check=False)
    assert column(jobs.db, "select details from howdah.poison_details") == [{"trace_id": TRACE}]
    assert kitchen.traces == ["0" * 32] * 3
