-- howdah.ack_interval(queue, leases, first_message_id, last_message_id): acknowledge the messages that leases hold,
-- from one message to another.
--
-- Returns  the number of messages acknowledged (bigint). The order is that of delivery: by lease, then by priority and
--          position; for a subscription by lease and position. Messages in between that others hold are not touched.
-- Raises   HD001 no such queue; HD005 the last message comes before the first; HD010 not allowed; HD026 these leases do
--          not have, or no longer have, the first or the last message.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.ack_interval(
    queue text, leases bigint[], first_message_id bigint, last_message_id bigint
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_first record;
    v_last record;
    v_lease record;
    v_count bigint := 0;
begin
    select h.lease, h.rank, h.seq into v_first from howdah._in_leases(v_destination.id, leases) h
    where h.message_id = first_message_id;
    select h.lease, h.rank, h.seq into v_last from howdah._in_leases(v_destination.id, leases) h
    where h.message_id = last_message_id;
    if v_first.lease is null or v_last.lease is null then
        perform howdah._check_lease(v_destination, leases[1], array[first_message_id, last_message_id], 0);
    elsif (v_last.lease, v_last.rank, v_last.seq) < (v_first.lease, v_first.rank, v_first.seq) then
        raise exception using errcode = 'HD005',
            message = format('message %s was delivered before message %s', last_message_id, first_message_id),
            hint = 'Give the message that was delivered earlier as first_message_id.';
    end if;
    for v_lease in
        select h.lease, array_agg(h.message_id) as ids
        from howdah._in_leases(v_destination.id, leases) h
        where (h.lease, h.rank, h.seq) >= (v_first.lease, v_first.rank, v_first.seq)
          and (h.lease, h.rank, h.seq) <= (v_last.lease, v_last.rank, v_last.seq)
        group by h.lease order by h.lease
    loop
        v_count := v_count + howdah.ack(queue, v_lease.lease, v_lease.ids);
    end loop;
    return v_count;
end
$$;
