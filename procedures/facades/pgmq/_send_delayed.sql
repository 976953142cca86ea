-- pgmq._send_delayed(p_destination, p_messages, p_headers, p_vt): store messages that become visible at a given time.
--
-- Returns  the msg_id (bigint) of each, in the order of p_messages.
-- Raises   as howdah.send_batch.
-- Role     internal
--
-- howdah stores them with a delay of a day, because it takes no time in the past. Then this call sets due_at.
create or replace function pgmq._send_delayed(
    p_destination howdah.destinations, p_messages jsonb[], p_headers jsonb[], p_vt timestamptz
) returns setof bigint
language plpgsql volatile
as $$
declare
    v_ids bigint[];
begin
    if p_vt is null then
        raise exception using errcode = 'not_null_violation',
            message = 'null value in column "vt" violates not-null constraint';
    end if;
    v_ids := howdah._send_batch(p_destination,
        array(select convert_to(coalesce(m.message::text, ''), 'UTF8')
            from unnest(p_messages) with ordinality m(message, n) order by m.n),
        true, 'application/json', pgmq._headers_for(p_destination, p_headers, cardinality(p_messages)), null,
        null, null, null,
        null, null, interval '1 day', null, true);
    update howdah.parked p
    set due_at = pgmq._readable(p_vt),
        content_type = case when octet_length(p.body) = 0 then 'application/x-sql-null' else p.content_type end
    where p.destination_id = p_destination.id and p.message_id = any (v_ids);
    if pg_sequence_last_value('pgmq.notifying'::regclass) is not null then
        perform pgmq._notify(p_destination.name);
    end if;
    return query select i.id / 1000000 from unnest(v_ids) with ordinality i(id, n) order by i.n;
end
$$;
