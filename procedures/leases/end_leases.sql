-- howdah.end_leases(queue, leases, delivered, error_text, error_class, message_ids): give back all that leases still
-- have, blaming what was delivered only.
--
-- Returns  one row for each message of delivered that was still theirs: its number, which failure of it this was, and
--          the outcome, as howdah.nack. All others are back in their place, with nobody to blame. Nothing is said of
--          what the leases have lost. message_ids: give back these only; NULL: all.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed; HD026 others took a topic's message in the
--          moment of the call.
-- Role     howdah_consumer howdah_admin
--
-- The end of a consumer that received ahead: what it had handed out and not acknowledged comes again as redelivered,
-- the rest unharmed.
create or replace function howdah.end_leases(
    queue text, leases bigint[], delivered bigint[] default '{}', error_text text default null,
    error_class text default null,
    message_ids bigint[] default null
) returns table (message_id bigint, attempt integer, outcome text)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_lease bigint;
    v_held bigint[];
    v_blamed bigint[];
begin
    for v_lease in select distinct u.lease from unnest(leases) u(lease) order by 1 loop
        v_held := howdah._held_messages(v_destination, v_lease, message_ids);
        v_blamed := array(select h.id from unnest(v_held) h(id) where h.id = any (delivered));
        if cardinality(v_blamed) < cardinality(v_held) then
            perform howdah.release(queue, v_lease,
                array(select h.id from unnest(v_held) h(id) where h.id <> all (v_blamed)));
        end if;
        if v_blamed <> '{}' then
            return query select n.* from howdah.nack(queue, v_lease, v_blamed, error_text, error_class) n;
        end if;
    end loop;
    if message_ids is null then
        delete from howdah.ahead_leases a where a.lease_id = any (leases) and a.destination_id = v_destination.id;
    end if;
end
$$;
