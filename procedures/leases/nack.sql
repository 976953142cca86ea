-- howdah.nack(queue, lease, message_ids, …): give leased messages back as failed: the queue's policy decides what becomes of them.
--
-- Returns  one row a message: its number, which failure of it this was, and the outcome, as howdah.record_failure. message_ids NULL: all
--          that the lease still has. delay overrides the queue's; reject: no more tries.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed; HD026 the lease has not (or no longer) one of these messages.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.nack(
    queue text, lease bigint, message_ids bigint[] default null, error_text text default null, error_class text default null,
    delay interval default null, reject boolean default false, worker text default null, details jsonb default null
) returns table (message_id bigint, attempt integer, outcome text)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_id bigint;
begin
    for v_id in select r.id from howdah._unlease(v_destination, lease, message_ids) r(id) loop
        message_id := v_id;
        select f.attempt, f.outcome into attempt, outcome
        from howdah._record_failure(v_destination, jsonb_build_object('message_id', v_id, 'error_text', error_text, 'error_class', error_class,
            'delay_ms', extract(epoch from delay) * 1000, 'reject', reject, 'worker', worker, 'details', details), false, true) f;
        return next;
    end loop;
end
$$;

-- howdah.release(queue, lease, message_ids): give leased messages back to their place, with nobody to blame.
--
-- Returns  their number (bigint). message_ids NULL: all that the lease still has.
-- Raises   HD001 no such queue; HD010 not allowed; HD026 the lease has not (or no longer) one of these messages.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.release(queue text, lease bigint, message_ids bigint[] default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
as $$
begin
    return (select count(*) from howdah._unlease(howdah._destination(queue, 'receive'), lease, message_ids));
end
$$;

-- howdah._unlease(p_destination, p_lease, p_message_ids): put leased messages back where they were.
--
-- Returns  their numbers.
-- Raises   HD026 the lease has not (or no longer) one of these messages.
-- Role     internal
create or replace function howdah._unlease(p_destination howdah.destinations, p_lease bigint, p_message_ids bigint[]) returns setof bigint
language plpgsql volatile
as $$
declare
    v_row record;
    v_ids bigint[] := '{}';
    v_least bigint[];
begin
    perform howdah._lay_down(p_destination.id, p_lease, p_message_ids, null);
    for v_row in select l.ctid, l.message from howdah._leased(p_destination.id, p_lease, p_message_ids) l loop
        delete from howdah.parked p where p.ctid = v_row.ctid;
        perform howdah._put(howdah._as_ready(v_row.message), (v_row.message).boot is not null, true);
        v_least[(v_row.message).rank] := least(v_least[(v_row.message).rank], (v_row.message).seq);
        v_ids := v_ids || (v_row.message).message_id;
    end loop;
    perform howdah._search_from(p_destination.id, r.rank, v_least[r.rank]) from generate_series(0, 9) r(rank) where v_least[r.rank] is not null;
    with gone as (
        delete from howdah.acked d using howdah.acks a
        where a.subscription_id = p_destination.id and d.ack_id = a.id and d.lease_id = p_lease
          and (p_message_ids is null or d.seq * 1000000 + a.destination_id = any (p_message_ids))
        returning d.seq * 1000000 + a.destination_id as message_id
    ) select v_ids || coalesce(array_agg(g.message_id order by g.message_id), '{}') into v_ids from gone g;
    perform howdah._check_lease(p_destination, p_lease, p_message_ids, cardinality(v_ids));
    return query select i.id from unnest(v_ids) i(id);
end
$$;
