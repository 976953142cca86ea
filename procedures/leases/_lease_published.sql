-- howdah._lease_published(p_destination, p_message_ids, p_lease, p_until): record topic messages as leased.
--
-- Role     internal
create or replace function howdah._lease_published(
    p_destination howdah.destinations, p_message_ids bigint[], p_lease bigint, p_until timestamptz
)
returns void
language plpgsql volatile
as $$
declare
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
begin
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_destination.id;
    for v_ack in
        select a.* from howdah.acks a
        where a.subscription_id = p_destination.id
          and a.destination_id = any (array(select i.id % 1000000 from unnest(p_message_ids) i(id)))
    loop
        insert into howdah.acked as a (ack_id, seq, xid, lease_id, leased_until, nonpersistent)
        select v_ack.id, l.seq, l.xid, p_lease, p_until, l.nonpersistent
        from howdah._locate(v_subscription, v_ack,
            array(select i.id / 1000000 from unnest(p_message_ids) i(id) where i.id % 1000000 = v_ack.destination_id)) l
        where l.wanted and not l.done
        on conflict on constraint pk_acked do update set lease_id = excluded.lease_id,
            leased_until = excluded.leased_until;
    end loop;
end
$$;
