-- howdah._expire_leases(p_subscription_id): make topic messages whose lease ran out unread again, and record that it
-- did.
--
-- Role     internal
--
-- It runs in the receiver's transaction, and skips messages for which another transaction is doing the same. A consumer
-- that dies may leave thousands, so each cursor's messages are looked for together.
create or replace function howdah._expire_leases(p_subscription_id integer) returns void
language plpgsql volatile
as $$
declare
    v_acks integer[];
    v_seqs bigint[];
    v_leases bigint[];
    v_row record;
begin
    with gone as (
        delete from howdah.acked d
        where d.ctid = any (array(
            select c.ctid from howdah.acked c join howdah.acks a on a.id = c.ack_id
            where a.subscription_id = p_subscription_id and c.lease_id is not null
              and c.leased_until <= howdah.now() for update of c skip locked))
        returning d.ack_id, d.seq, d.lease_id
    )
    select array_agg(g.ack_id order by g.lease_id, g.seq), array_agg(g.seq order by g.lease_id, g.seq),
        array_agg(g.lease_id order by g.lease_id, g.seq)
    into v_acks, v_seqs, v_leases from gone g;
    if v_acks is null then
        return;
    end if;
    for v_row in
        with located as materialized (
            select a.id as ack_id, l.seq, l.conversation_id,
                howdah._group(l.headers, l.conversation_id) as message_group
            from howdah.subscriptions s
            join howdah.acks a on a.subscription_id = s.destination_id
            cross join lateral howdah._locate(s, a,
                array(select u.seq from unnest(v_acks, v_seqs) u(ack_id, seq) where u.ack_id = a.id)) l
            where s.destination_id = p_subscription_id and a.id = any (v_acks)
        )
        select u.seq * 1000000 + a.destination_id as message_id, l.conversation_id, l.message_group, u.lease_id
        from unnest(v_acks, v_seqs, v_leases) with ordinality u(ack_id, seq, lease_id, n)
        join howdah.acks a on a.id = u.ack_id
        -- one that has expired may be stored no longer
        left join located l on l.ack_id = u.ack_id and l.seq = u.seq
        order by u.n
    loop
        perform howdah._record_lease_incident(p_subscription_id, v_row.message_id, 0::smallint, v_row.conversation_id,
            v_row.message_group, v_row.lease_id);
    end loop;
end
$$;
