-- howdah.end_leases(queue, leases, delivered, error_text, error_class, message_ids): give back all messages that leases
-- still have, counting a failure only for those delivered.
--
-- Returns  one row for each message in delivered that the leases still had. It has the id, which of the message's
--          failures this was, and the outcome, as howdah.nack. All other messages return to their place without a
--          failure. Messages that the leases have lost are not reported. message_ids: give back only these; NULL: all.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed; HD026 somebody else took a topic's message at
--          this moment.
-- Role     howdah_consumer howdah_admin
--
-- It ends a consumer that received ahead. Messages that it handed out and did not acknowledge come again as
-- redelivered; the rest comes back unchanged.
create or replace function howdah.end_leases(
    queue text, leases bigint[], delivered bigint[] default '{}', error_text text default null,
    error_class text default null, message_ids bigint[] default null
) returns table (message_id bigint, attempt integer, outcome text)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
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
