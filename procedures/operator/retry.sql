-- howdah.retry(queue, message_ids, reason): make parked messages available at once, in their old place.
--
-- Returns  the number of messages released (bigint).
-- Raises   HD001 no such queue; HD010 not allowed; HD013 a message is not parked in the queue, or is in somebody's
--          hands; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- Either all are released, or none. message_ids NULL means all free messages parked there because of a failure or by
-- howdah.park_messages, but not those sent with a delay. Their failures go on counting.
create or replace function howdah.retry(
    queue text, message_ids bigint[] default null, reason text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'admin');
    v_parked howdah.parked;
    v_ids bigint[];
    v_least bigint[];
begin
    perform howdah._sweep_lost();
    perform howdah._return_leases(v_destination.id, null, howdah.now(), null, message_ids)
    where message_ids is not null;
    for v_parked in
        delete from howdah.parked p where p.ctid = any (case when message_ids is null then array(
            select c.ctid from howdah.parked c
            where c.destination_id = v_destination.id and c.parked_reason not in ('delay', 'lease')
            order by c.message_id for update skip locked)
        else array(
            select c.ctid from howdah.parked c
            where c.ctid = any (howdah._parked_rows(v_destination.id, message_ids))
              and (c.parked_reason <> 'lease' or c.due_at <= howdah.now())
            order by c.message_id for update skip locked) end)
        returning p.*
    loop
        perform howdah._put(howdah._as_ready(v_parked), v_parked.boot is not null, true);
        v_least[v_parked.rank] := least(v_least[v_parked.rank], v_parked.seq);
        v_ids := v_ids || v_parked.message_id;
    end loop;
    perform howdah._walk_back(v_destination, r.rank, v_least[r.rank]) from generate_series(0, 9) r(rank)
    where v_least[r.rank] is not null;
    if coalesce(cardinality(v_ids), 0) < (select count(distinct i.id) from unnest(message_ids) i(id))
       or exists (select from unnest(message_ids) i(id) where i.id is null) then
        raise exception using errcode = 'HD013',
            message = format('not all of these messages are parked in queue %s', quote_literal(queue)),
            hint = 'See howdah.poison_message(message_id); a message in somebody''s hands cannot be released.';
    end if;
    perform howdah._record_act('retried', v_destination.id, v_ids, null, reason);
    return coalesce(cardinality(v_ids), 0);
end
$$;
