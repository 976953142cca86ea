"""Spans, metrics and context of sessions and leases, by the conventions for messaging."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry import baggage, context
from opentelemetry.trace import NoOpTracerProvider, SpanKind, StatusCode
from support import Db, column, one, wait_until
from traced import Recording, header_of, linked, number_of, recording, trace_of

from howdah.engine import AckMode, Connection, Message
from howdah.engine.aio import connect_async
from howdah.engine.errors import NoSuchQueue
from howdah.engine.tracing import conventions, switch
from howdah.engine.tracing.traces import Traces

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
"""The example of W3C's recommendation."""
TRACE, SPAN = 0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331


@pytest.fixture
def traced() -> Iterator[Recording]:
    """What the test's process tells OpenTelemetry."""
    with recording() as made:
        yield made


def received(connection: Connection, queue: str, count: int = 1) -> list[Message]:
    with connection.session() as session, session.transaction():
        return session.receive(queue, count)


def test_a_sent_message_carries_the_context_of_its_span(connection: Connection, orders: str, traced: Recording) -> None:
    with traced.tracer.start_as_current_span("request"), connection.session() as session, session.transaction():
        token = context.attach(baggage.set_baggage("tenant", "blue"))
        session.send(orders, "tea", headers={"colour": "green"})
        context.detach(token)
    span = traced.span("send orders")
    assert trace_of(span) == trace_of(traced.span("request"))
    (message,) = received(connection, orders)
    assert message.headers == {"traceparent": header_of(span), "baggage": "tenant=blue", "colour": "green"}


def test_a_span_of_sending_is_as_the_conventions_have_it(
    connection: Connection, orders: str, traced: Recording
) -> None:
    connection.send(orders, "tea")
    with connection.session() as session, session.transaction():
        session.send(orders, "tea")
    _, span = traced.spans("send orders")
    assert span.kind is SpanKind.PRODUCER
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.schema_url == conventions.SCHEMA_URL == "https://opentelemetry.io/schemas/1.44.0"
    attributes = dict(span.attributes or {})
    assert attributes.pop("server.address")
    assert attributes == {
        "messaging.system": "howdah",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": "orders",
    }


def test_a_context_that_a_message_has_is_never_overwritten(
    connection: Connection, orders: str, traced: Recording
) -> None:
    own = {"traceparent": PARENT, "baggage": "tenant=red"}
    with traced.tracer.start_as_current_span("request"), connection.session() as session, session.transaction():
        token = context.attach(baggage.set_baggage("tenant", "blue"))
        session.send(orders, "tea", headers=own)
        session.send_many(orders, ["tea", "coffee"], headers=[own, None])
        context.detach(token)
    single, batch = traced.spans("send orders")
    assert single.kind is SpanKind.CLIENT
    assert linked(single) == [SPAN]
    create = traced.span("create orders")
    assert linked(batch) == [SPAN, number_of(create)]
    first, second, third = received(connection, orders, 3)
    assert [first.headers, second.headers] == [own, own]
    assert third.headers["traceparent"] == header_of(create)


def test_headers_that_python_cannot_decode_carry_no_context(
    connection: Connection, db: Db, orders: str, traced: Recording
) -> None:
    nested = '{"n": ' + "[" * 3000 + "]" * 3000 + "}"
    one(db, "select howdah.send('orders', 'deep', headers => %s::jsonb)", (nested,))
    connection.send(orders, "tea", headers={"traceparent": PARENT})
    assert [message.body for message in received(connection, orders, 2)] == ["deep", "tea"]
    assert linked(traced.span("receive orders")) == [SPAN]


def test_each_message_of_a_batch_has_a_span_of_its_own(connection: Connection, orders: str, traced: Recording) -> None:
    with connection.session() as session, session.transaction():
        session.send_many(orders, ["one", "two", "three"])
    creates, batch = traced.spans("create orders"), traced.span("send orders")
    assert [span.kind for span in creates] == [SpanKind.PRODUCER] * 3
    assert linked(batch) == [number_of(span) for span in creates]
    assert (batch.attributes or {})["messaging.batch.message_count"] == 3
    messages = received(connection, orders, 3)
    assert [message.headers["traceparent"] for message in messages] == [header_of(span) for span in creates]


def test_spans_of_single_messages_can_be_switched_off(connection: Connection, orders: str) -> None:
    with recording(create_spans=False) as traced:
        with connection.session() as session, session.transaction():
            session.send_many(orders, ["one", "two"])
        batch = traced.span("send orders")
        assert traced.names() == ["send orders"]
        assert batch.kind is SpanKind.PRODUCER
        messages = received(connection, orders, 2)
        assert [message.headers["traceparent"] for message in messages] == [header_of(batch)] * 2


def test_receiving_and_settling_link_to_what_made_the_messages(
    connection: Connection, orders: str, traced: Recording
) -> None:
    with connection.session() as session:
        with session.transaction():
            session.send_many(orders, ["one", "two"])
        creates = [number_of(span) for span in traced.spans("create orders")]
        assert len(session.receive(orders, 2)) == 2
        session.rollback()
        assert len(session.receive(orders, 2)) == 2
        session.commit()
        assert session.receive(orders) == []
    ends = [*traced.spans("receive orders"), traced.span("rollback orders"), traced.span("commit orders")]
    assert [(span.kind, linked(span)) for span in ends] == [(SpanKind.CLIENT, creates)] * 4
    assert {(span.attributes or {})["messaging.batch.message_count"] for span in ends} == {2}
    types = [(span.attributes or {})["messaging.operation.type"] for span in ends]
    assert types == ["receive", "receive", "settle", "settle"]


def test_leases_are_received_and_settled(connection: Connection, orders: str, traced: Recording) -> None:
    for body in ("one", "two", "three"):
        connection.send(orders, body)
    sends = [number_of(span) for span in traced.spans("send orders")]
    lease = connection.leases.lease(orders, 3)
    assert lease is not None
    connection.leases.ack(lease, lease.messages[:1])
    connection.leases.nack(lease, lease.messages[1:2], error=ValueError("bad"))
    connection.leases.release(lease, lease.messages[2:])
    assert linked(traced.span("receive orders")) == sends
    assert [linked(traced.span(f"{how} orders")) for how in ("ack", "nack", "release")] == [[one] for one in sends]


def test_plain_sql_may_set_the_context(connection: Connection, db: Db, traced: Recording, orders: str) -> None:
    one(db, "select howdah.send('orders', 'tea'::text, headers => %s::jsonb)", (f'{{"traceparent": "{PARENT}"}}',))
    received(connection, orders)
    (link,) = traced.span("receive orders").links
    assert (link.context.trace_id, link.context.span_id) == (TRACE, SPAN)


@pytest.mark.first_case
@pytest.mark.parametrize("value", ['"nonsense"', "17", "{}", f'"00-{"0" * 32}-{"0" * 16}-01"'])
def test_a_header_that_is_no_context_disturbs_nobody(
    connection: Connection, db: Db, orders: str, traced: Recording, value: str
) -> None:
    one(db, "select howdah.send('orders', 'tea'::text, headers => %s::jsonb)", (f'{{"traceparent": {value}}}',))
    assert len(received(connection, orders)) == 1
    assert linked(traced.span("receive orders")) == []


def test_a_listener_continues_the_trace_and_its_failure_begins_another(
    connection: Connection, db: Db, orders: str, traced: Recording
) -> None:
    tries: list[int] = []

    def listener(message: Message) -> None:
        tries.append(message.delivery_count)
        if len(tries) == 1:
            raise ValueError("not yet")

    with connection.session() as session:
        connection.send(orders, "tea")
        session.listen(orders, listener)
        wait_until(lambda: len(traced.spans("process orders")) == 2)
    send = traced.span("send orders")
    first, second = traced.spans("process orders")
    assert first.parent is not None
    assert first.parent.span_id == number_of(send)
    assert first.status.status_code is StatusCode.ERROR
    assert (first.attributes or {})["error.type"] == "ValueError"
    assert second.parent is None
    assert trace_of(second) != trace_of(send)
    assert linked(second) == [number_of(send)]
    (details,) = column(db, "select details from howdah.poison_details")
    assert details == {"trace_id": trace_of(first), "span_id": f"{number_of(first):016x}"}


def test_a_session_with_an_acknowledge_mode_is_traced(connection: Connection, orders: str, traced: Recording) -> None:
    with connection.jms_session(mode=AckMode.AUTO) as session:
        session.send(orders, "tea")
        session.consumer(orders).listener = lambda message: None
        wait_until(lambda: traced.spans("process orders"))
    assert trace_of(traced.span("process orders")) == trace_of(traced.span("send orders"))


def test_the_four_metrics_are_counted(connection: Connection, orders: str, traced: Recording) -> None:
    connection.send(orders, "one")
    with connection.session() as session:
        with session.transaction():
            session.send_many(orders, ["two", "three"])
            assert session.send_stream(orders, ["four", "five"]) == 2
        assert len(session.receive(orders, 5)) == 5
        session.commit()
        session.listen(orders, lambda message: None)
        connection.send(orders, "six")
        wait_until(lambda: traced.metric("messaging.process.duration") == 1)
    with pytest.raises(NoSuchQueue):
        connection.send("nowhere", "lost")
    assert traced.metric("messaging.client.sent.messages", messaging_destination_name="orders") == 6
    assert traced.metric("messaging.client.sent.messages", error_type="NoSuchQueue") == 1
    assert traced.metric("messaging.client.consumed.messages") == 6
    for name, times in (("send", 3 + 1), ("load", 1), ("receive", 2)):
        assert traced.metric("messaging.client.operation.duration", messaging_operation_name=name) == times


def test_asynchronous_sessions_are_traced_alike(dsn: str, orders: str, traced: Recording) -> None:
    async def scenario() -> None:
        async with connect_async(dsn) as connection, await connection.session() as session:
            await session.send(orders, "tea")
            await session.commit()
            assert len(await session.receive(orders)) == 1
            await session.commit()

    asyncio.run(scenario())
    assert traced.names() == ["send orders", "receive orders", "commit orders"]
    send, *others = (traced.span(name) for name in traced.names())
    assert [linked(span) for span in others] == [[number_of(send)]] * 2


def test_a_send_that_nobody_waits_for_carries_the_context_of_now(
    connection: Connection, orders: str, traced: Recording
) -> None:
    with traced.tracer.start_as_current_span("request"), connection.windowed_producer(orders) as producer:
        connection.send_async(orders, "tea").result(30)
        producer.send("tea").result(30)
    carried = [message.headers["traceparent"] for message in received(connection, orders, 2)]
    assert carried == [header_of(traced.span("request"))] * 2
    assert "send orders" not in traced.names()


def test_metrics_alone_leave_headers_as_they_are(connection: Connection, orders: str) -> None:
    with recording() as traced:
        switch.use(Traces(NoOpTracerProvider(), traced.meters))
        connection.send(orders, "tea", headers={"colour": "green"})
        assert received(connection, orders)[0].headers == {"colour": "green"}
        assert traced.metric("messaging.client.sent.messages") == 1


def test_temporary_queues_share_a_name(connection: Connection, traced: Recording) -> None:
    with connection.session() as session:
        connection.send(session.create_temporary_queue(), "tea")
    assert (traced.span("send (temporary)").attributes or {})["messaging.destination.temporary"] is True


def test_a_failure_names_its_senders_trace_without_any_provider(connection: Connection, db: Db, orders: str) -> None:
    connection.send(orders, "tea", headers={"traceparent": PARENT})
    with connection.session() as session:
        (message,) = session.receive(orders)
        session.rollback()
    connection.record_failure(message, ValueError("bad"))
    assert column(db, "select details from howdah.poison_details") == [{"trace_id": f"{TRACE:032x}"}]


def test_without_a_provider_headers_stay_as_they_are(connection: Connection, orders: str) -> None:
    connection.send(orders, "tea", headers={"colour": "green"})
    assert received(connection, orders)[0].headers == {"colour": "green"}


@pytest.mark.slow
def test_the_engine_imports_no_library_by_itself() -> None:
    """Nor does it need one: with the library hidden, all of its points do nothing."""
    program = (
        "import sys; import howdah.engine.aio, howdah.workers; assert not [m for m in sys.modules if"
        " m.startswith('opentelemetry')]; sys.modules['opentelemetry'] = None\n"
        "from howdah.engine.tracing import points, switch; assert switch.current() is None\n"
        "with points.sending('q', {'priority': 3}) as options: assert options == {'priority': 3}"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    api = "import opentelemetry.trace\nfrom howdah.engine.tracing import switch; assert switch.current() is None"
    subprocess.run([sys.executable, "-c", api], check=True)
