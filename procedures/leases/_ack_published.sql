-- howdah._ack_published(p_destination, p_lease, p_message_ids): acknowledge leased messages of a subscription's topics.
--
-- Returns  the number of messages (bigint); 0 for a queue.
-- Role     internal
create or replace function howdah._ack_published(
    p_destination howdah.destinations, p_lease bigint, p_message_ids bigint[]
) returns bigint
language plpgsql volatile
as $$
declare
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
    v_seqs bigint[];
    v_ids bigint[];
    v_volatile bigint[];
    v_count bigint := 0;
begin
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_destination.id;
    if not found then
        return 0;
    end if;
    for v_ack in select a.* from howdah.acks a where a.subscription_id = p_destination.id loop
        if p_message_ids is null then
            v_seqs := array(select d.seq from howdah.acked d where d.ack_id = v_ack.id and d.lease_id = p_lease);
        else
            v_seqs := array(
                select i.id / 1000000 from unnest(p_message_ids) i(id) where i.id % 1000000 = v_ack.destination_id);
        end if;
        continue when v_seqs = '{}';
        with done as (
            update howdah.acked d set lease_id = null, leased_until = null
            where d.ack_id = v_ack.id and d.seq = any (v_seqs) and d.lease_id = p_lease
            returning d.seq * 1000000 + v_ack.destination_id as message_id, d.nonpersistent
        )
        select array_agg(d.message_id) filter (where not d.nonpersistent),
            array_agg(d.message_id) filter (where d.nonpersistent)
        into v_ids, v_volatile from done d;
        if v_ids is not null or v_volatile is not null then
            perform howdah._journal(p_destination, 'consumed', v_ids, false, null, 'held');
            perform howdah._journal(p_destination, 'consumed', v_volatile, true, null, 'held');
            perform howdah._advance_cursor(v_subscription, v_ack);
            v_count := v_count + coalesce(cardinality(v_ids), 0) + coalesce(cardinality(v_volatile), 0);
        end if;
    end loop;
    return v_count;
end
$$;
