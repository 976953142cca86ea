-- howdah.redeliver(queue, leases, message_ids, duration, error_text, error_class): count a failed delivery of leased
-- messages, and lease them again at once.
--
-- Returns  as howdah.lease, under a new lease: the messages that the queue's policy returns at once, with
--          delivery_count one higher. Messages that the policy delays or moves away, or that these leases have lost,
--          are left out. So are those for which the queue's limits leave no room: they are in the queue again.
-- Raises   HD001 no such queue; HD005 duration is not 1 ms to 7 days, or a limit of concurrency needs READ COMMITTED;
--          HD010 not allowed; HD026 somebody else took a topic's message at this moment; HD049 the transformation
--          cannot be called (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- It is the rollback of a session that received ahead. Messages that the session had delivered come to it again before
-- anybody else can take them. Other messages of the leases stay as they are. If the leases end with the session of
-- their consumer, the new one does, too.
create or replace function howdah.redeliver(
    queue text, leases bigint[], message_ids bigint[], duration interval default '30 seconds',
    error_text text default null, error_class text default null
) returns table (
    LEASED_MESSAGE
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_until timestamptz := howdah._lease_until(duration);
    v_number bigint;
    v_lease bigint;
    v_held bigint[];
    v_back bigint[] := '{}';
    v_again howdah.message[];
    v_transformation text;
begin
    for v_lease in select distinct u.lease from unnest(leases) u(lease) order by 1 loop
        v_held := howdah._held_messages(v_destination, v_lease, message_ids);
        if v_held <> '{}' then
            v_back := v_back || array(select n.message_id
                from howdah.nack(queue, v_lease, v_held, error_text, error_class) n
                                      where n.outcome = 'returned');
        end if;
    end loop;
    v_again := howdah._returned_messages(v_destination.id, v_back);
    select s.transformation into v_transformation from howdah.subscriptions s
    where s.destination_id = v_destination.id;
    if v_transformation is not null then
        v_again := array(select t from howdah._transformed(v_destination, v_transformation, v_again, true) t);
    end if;
    if v_destination.limited then
        v_again := howdah._permit_again(v_destination, v_again);
    end if;
    if cardinality(v_again) > 0 then
        v_number := nextval('howdah.lease_numbers'::regclass);
        perform howdah._take_lease(v_destination, v_again, v_number, v_until);
        perform howdah._note_lease((select min(c.id) from howdah.consumer_leases l
            join howdah.consumers c on c.id = l.consumer_id and c.destination_id = v_destination.id
            where l.lease_id = any (leases)), v_number);
    end if;
    return query select v_number, v_until, a.* from unnest(v_again) a;
end
$$;
