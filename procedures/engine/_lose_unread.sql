-- howdah._lose_unread(p_all, p_reason): journal the non-persistent topic messages that subscriptions have not read, and
-- that are lost now.
--
-- Role     internal
--
-- They are lost to each subscription that would have got them. p_all: also those of this start of the server. What
-- earlier starts lost, before engine.boot, is journaled already. At most 10,000 messages go into one row.
create or replace function howdah._lose_unread(p_all boolean, p_reason text) returns void
language plpgsql volatile
as $$
declare
    v_boot constant timestamptz := pg_postmaster_start_time();
    v_since constant timestamptz := (select e.boot from howdah.engine e);
    v_reader record;
    v_ids bigint[];
begin
    for v_reader in
        select d as destination, s as subscription, a as ack
        from howdah.acks a
        join howdah.subscriptions s on s.destination_id = a.subscription_id
        join howdah.destinations d on d.id = s.destination_id
        where d.dropped_at is null and d.journal_level <> 'off' and (
            false
            -- for N in 0, 1, 2:
            or exists (select from howdah.topic_nonpersistent_N t where t.destination_id = a.destination_id
                and t.boot >= v_since and (p_all or t.boot <> v_boot))
            -- end for
            )
    loop
        -- for N in 0, 1, 2:
        for v_ids in execute format(
            'select array_agg(u.message_id order by u.message_id)
             from (select m.message_id, row_number() over () / 10000 as part
                   from (select t.*, true as nonpersistent, t.seq * 1000000 + t.destination_id as message_id
                         from howdah.topic_nonpersistent_N t
                         where t.destination_id = $1 and t.boot >= $2 and ($3 or t.boot <> $4)
                           and (t.rank = $5) is not false and (t.client_id = $6) is not true
                           and not howdah._is_passed($7, t.xid, t.seq) offset 0) m
                   where not exists (select from howdah.acked a where a.ack_id = $8 and a.seq = m.seq)
                     and (%s) is true) u
             group by u.part', coalesce((v_reader.subscription).selector_sql, 'true'))
        using (v_reader.ack).destination_id, v_since, p_all, v_boot,
            case when (v_reader.subscription).prioritized then 9 - (v_reader.ack).priority end,
            case when (v_reader.subscription).no_local then (v_reader.subscription).client_id end,
            howdah._cursor((v_reader.ack).id), (v_reader.ack).id
        loop
            perform howdah._journal(v_reader.destination, 'lost', v_ids, true, null, p_reason);
        end loop;
        -- end for
    end loop;
end
$$;
