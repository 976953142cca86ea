-- howdah._unlease(p_destination, p_lease, p_message_ids): put leased messages back where they were.
--
-- Returns  their ids.
-- Raises   HD026 the lease does not have, or no longer has, one of these messages.
-- Role     internal
create or replace function howdah._unlease(
    p_destination howdah.destinations, p_lease bigint, p_message_ids bigint[]
) returns setof bigint
language plpgsql volatile
as $$
declare
    v_row record;
    v_ids bigint[] := '{}';
    v_least bigint[];
begin
    perform howdah._commit_needs(4);
    perform howdah._lay_down(p_destination.id, p_lease, p_message_ids, null);
    for v_row in select l.ctid, l.message from howdah._parked_of_lease(p_destination.id, p_lease, p_message_ids) l loop
        delete from howdah.parked p where p.ctid = v_row.ctid;
        perform howdah._put(howdah._as_ready(v_row.message), (v_row.message).boot is not null, true);
        v_least[(v_row.message).rank] := least(v_least[(v_row.message).rank], (v_row.message).seq);
        v_ids := v_ids || (v_row.message).message_id;
    end loop;
    perform howdah._walk_back(p_destination, r.rank, v_least[r.rank]) from generate_series(0, 9) r(rank)
    where v_least[r.rank] is not null;
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
