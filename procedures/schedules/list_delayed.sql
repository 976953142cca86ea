-- howdah.list_delayed(queue, max_messages, until, after_due, after_priority, after_position): list messages of a queue
-- that wait for their time, sent with a delay or put back until later.
--
-- Returns  up to max_messages rows, by due time; with until, those due by then. bytes is the size of the body. reason:
--          delay (sent with one), redelivery, blocked or quarantine (after a failure), or operator
--          (howdah.park_messages).
-- Raises   HD001 no such queue; HD005 max_messages is not 1 to 10000; HD010 not allowed.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
--
-- Neither receive nor browse shows them before they are due. Those sent with a delay can be cancelled
-- (howdah.cancel_delayed); the others can be received at once after howdah.retry. For the next page, pass due_at,
-- priority and position of the last row as after_due, after_priority and after_position.
create or replace function howdah.list_delayed(
    queue text, max_messages integer default 100, until timestamptz default null, after_due timestamptz default null,
    after_priority integer default null, after_position bigint default null
) returns table (
    message_id bigint, due_at timestamptz, sent_at timestamptz, expires_at timestamptz, priority integer,
    message_type text, correlation_id text, headers jsonb, bytes integer, reason text, "position" bigint
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_id integer := (howdah._queue(queue, 'browse')).id;
    v_now timestamptz := howdah.now();
begin
    if max_messages is null or max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(max_messages::text, 'NULL'));
    end if;
    return query
    select p.message_id, p.due_at, p.sent_at, p.expires_at, 9 - p.rank, p.message_type, p.correlation_id, p.headers,
        howdah._body_bytes(p.body, p.message_id), p.parked_reason, p.seq
    from generate_series(0, 9) r(rank)
    cross join lateral (
        select o.* from howdah.parked o
        where o.destination_id = v_id and o.rank = r.rank and o.due_at > v_now
          and (after_due is null or o.due_at >= after_due and (o.due_at, o.rank::integer, o.seq)
              > (after_due, 9 - coalesce(after_priority, 9), coalesce(after_position, 0)))
          and (o.due_at > list_delayed.until) is not true
          and o.parked_reason <> 'lease' and (o.boot is null or o.boot = pg_postmaster_start_time())
        order by o.due_at, o.seq limit max_messages) p
    order by p.due_at, p.rank, p.seq limit max_messages;
end
$$;
