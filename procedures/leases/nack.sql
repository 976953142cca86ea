-- howdah.nack(queue, lease, message_ids, …): give leased messages back as failed, and apply the queue's policy to them.
--
-- Returns  one row per message: its id, which of its failures this was, and the outcome, as howdah.record_failure.
--          message_ids NULL: all messages that the lease still has. delay overrides the queue's delay. reject: no more
--          tries.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed; HD026 the lease does not have, or no longer
--          has, one of these messages.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.nack(
    queue text, lease bigint, message_ids bigint[] default null, error_text text default null,
    error_class text default null, delay interval default null, reject boolean default false, worker text default null,
    details jsonb default null
) returns table (message_id bigint, attempt integer, outcome text)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_id bigint;
begin
    for v_id in select r.id from howdah._unlease(v_destination, lease, message_ids) r(id) loop
        message_id := v_id;
        select f.attempt, f.outcome into attempt, outcome
        from howdah._record_failure(v_destination,
            jsonb_build_object('message_id', v_id, 'error_text', error_text, 'error_class', error_class,
            'delay_ms', extract(epoch from delay) * 1000, 'reject', reject, 'worker', worker, 'details', details),
            false, true) f;
        return next;
    end loop;
end
$$;
