-- howdah._lease_otherwise(p_queue, p_max_messages, p_duration, p_selector, p_consumer, p_until, p_unknown): lease what
-- the fast path of howdah.lease does not.
--
-- Returns  as howdah.lease.
-- Raises   as howdah.receive.
-- Role     internal
--
-- Messages are held as howdah.receive does, and then put under the lease. With a wildcard (p_unknown: no queue was
-- found under the name), they come from one of the queues that match.
create or replace function howdah._lease_otherwise(
    p_queue text, p_max_messages integer, p_duration interval, p_selector text, p_consumer bigint,
    p_until timestamptz, p_unknown boolean
) returns table (
    LEASED_MESSAGE
)
language plpgsql volatile
as $$
declare
    v_name text;
    v_held howdah.message[];
    v_lease bigint;
begin
    if p_unknown and p_queue ~ '[*>]' and strpos(p_queue, ':') = 0 and not exists (
            select from howdah.destinations d where d.name = p_queue and d.dropped_at is null) then
        foreach v_name in array howdah._matching_queues(p_queue, p_max_messages, p_selector) loop
            return query select l.* from howdah.lease(v_name, p_max_messages, p_duration, p_selector) l;
            if found then
                return;
            end if;
        end loop;
        return;
    end if;
    v_held := array(select r from howdah.receive(p_queue, p_max_messages, true, p_selector, p_consumer) r);
    if cardinality(v_held) > 0 then
        v_lease := nextval('howdah.lease_numbers'::regclass);
        perform howdah._take_lease(howdah._destination(p_queue, 'receive'), v_held, v_lease, p_until);
        if p_consumer is not null then
            perform howdah._note_lease(p_consumer, v_lease);
        end if;
    end if;
    return query select v_lease, p_until, h.* from unnest(v_held) h;
end
$$;
