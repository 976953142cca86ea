"""A small shop's queues, for pictures of the console and for its tests: the same messages and failures each time."""

from __future__ import annotations

import math

import psycopg

_QUEUES = """
select howdah.create_queue('orders', '{"max_failed_deliveries": 1, "exception_queue": "orders.dead"}')
from howdah.create_queue('orders.dead');
select howdah.create_queue(queue) from unnest(array['invoices', 'mail.newsletter', 'thumbnails']) queue;
select howdah.send_batch(queue, array_agg(jsonb_build_object('number', n, 'shop', 'north')))
from (values ('invoices', 214), ('mail.newsletter', 1480), ('thumbnails', 37)) v (queue, count),
    generate_series(1, count) n
group by queue;
select howdah.send('invoices', '{"reminder": 1}'::jsonb, delay => interval '6 hours');
"""

# Each header traceparent names a trace, so that one message can be found by it.
_ORDERS = """
select cardinality(howdah.send_batch('orders',
    array_agg(jsonb_build_object('order', 100000 + n, 'customer', 'ada@example.org', 'card', '4000 0000 0000 0002',
        'items', jsonb_build_array('book', 'lamp')) order by n),
    headers => array_agg(jsonb_build_object('shop', case n %% 3 when 0 then 'south' else 'north' end,
        'traceparent', format('00-%%s-%%s-01', lpad(to_hex(n), 32, 'a'), lpad(to_hex(n), 16, 'b'))) order by n)))
from generate_series(1, %(count)s) n;
"""

# The first order has no address, every 40th customer is unknown, and the rest could not reach the shop's bank.
_FAILURES = r"""
select count(*) from howdah.record_failures('orders', (
    select jsonb_agg(jsonb_build_object('message_id', message_id, 'reject', true, 'worker', 'shop-1:0',
        'duration_ms', 480, 'error_class', class, 'error_text', text,
        'details', jsonb_build_object('trace_id', lpad(to_hex(n), 32, 'a')), 'traceback',
        E'Traceback (most recent call last):\n  File "shop/orders.py", line 41, in handle\n    charge(order)\n'
            || E'  File "shop/bank.py", line 17, in charge\n    raise ' || class || '(…)\n' || class || ': ' || text))
    from (
        select message_id, n, case when n = 1 then 'KeyError' when n %% 40 = 0 then 'UnknownCustomer'
                else 'BankUnavailable' end as class,
            case when n = 1 then '''address''' when n %% 40 = 0 then format('customer %%s is not known', n)
                else 'the bank did not answer within 5 s' end as text
        from (select message_id, %(done)s + row_number() over (order by message_id) as n
              from howdah.browse('orders', %(part)s)) b
    ) f));
"""

_REST = """
select cardinality(howdah.send_batch('orders', array_agg(jsonb_build_object('order', 900000 + n))))
from generate_series(1, 25) n;
select message_id from howdah.lease('orders', 3, interval '1 hour');
select howdah.create_topic('prices'), howdah.subscribe('prices', 'website'), howdah.subscribe('prices', 'partners');
select howdah.send('prices', format('price %s', n)) from generate_series(1, 40) n;
select howdah.receive('prices::website', 38);
select howdah.schedule('mail.newsletter', 'weekly', '0 6 * * 1', name => 'newsletter', time_zone => 'Europe/Vienna');
select howdah.register_worker('shop-1', 'app1.example.org', 4711, 8, array['orders', 'invoices']);
select howdah.open_consumer('orders');
select howdah.set_redaction(queue, '$.card', 'nobody needs to see cards')
from unnest(array['orders', 'orders.>']) queue;
select howdah.record_audit(howdah.now(), 0, 'none', howdah.now(), rows_read => 48210);
"""

# What one minute brings: waves of payments, some of which fail, and all of which are dealt with.
_MINUTE = """
select howdah.send_batch('payments', array_agg(n::text)) from generate_series(1, %(come)s) n;
select count(*) from howdah.record_failures('payments', (
    select jsonb_agg(jsonb_build_object('message_id', message_id, 'error_class', 'CardRefused'))
    from howdah.browse('payments', %(fail)s)));
select count(*) from howdah.receive('payments', %(go)s);
"""
_COUNTED = "select howdah.maintain_backlog(), howdah.maintain_totals()"
_AGO = """
create or replace function howdah.now() returns timestamptz language sql volatile parallel safe as
$$ select clock_timestamp() - current_setting('shop.ago')::interval $$
"""

# Failures of one transaction: each of them looks through the versions of figures that those before it left.
_PART = 1000


def of_the_bank(failed: int) -> int:
    """How many of so many failed orders failed because of the bank."""
    return failed - failed // 40 - 1


def fill(dsn: str, failed: int = 400) -> None:
    """Make the shop in a database with Howdah and nothing else: so many orders have failed.

    ``of_the_bank`` says how many of them failed because of the bank.
    """
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(_QUEUES.encode())
        db.execute(_ORDERS.encode(), {"count": failed})
        # As autovacuum would: the tables were empty a moment ago.
        db.execute("analyze")
        for done in range(0, failed, _PART):
            db.execute(_FAILURES.encode(), {"done": done, "part": min(_PART, failed - done)})
        db.execute("analyze")
        db.execute(_REST.encode())


def pass_an_hour(dsn: str) -> None:
    """Let payments come and go for an hour that ends now, counted each minute as maintenance does."""
    with psycopg.connect(dsn, autocommit=True, cursor_factory=psycopg.ClientCursor) as db:
        clock = db.execute("select pg_get_functiondef('howdah.now()'::regprocedure)").fetchall()[0][0]
        db.execute("set shop.ago = '65 minutes'")
        db.execute(_AGO)
        db.execute("delete from howdah.flow_samples")  # of now, which would be later than all
        db.execute("select howdah.create_queue('payments', '{\"redelivery_delay_ms\": 0}')")
        for ago in range(65, -1, -1):
            db.execute("select set_config('shop.ago', %s, false)", (f"{ago} minutes",))
            wave = 1 + math.sin(ago / 9)
            come = round(120 + 90 * wave)
            db.execute(_MINUTE, {"come": come, "fail": round(5 * wave) + 1, "go": come - 8 if ago % 20 else 2000})
            db.execute(_COUNTED)
        db.execute(clock)
