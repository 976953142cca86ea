-- howdah._give_back_space(p_slot): empty a closed pair of topic tables that the caller has locked, and carry on what is
-- needed to the open pair.
--
-- Returns  the number of messages carried on (bigint).
-- Role     internal
create or replace function howdah._give_back_space(p_slot integer) returns bigint
language plpgsql volatile
as $$
declare
    v_open integer := howdah._generation() % 3;
    v_keys record;
begin
    select array_agg(n.destination_id) as ids, array_agg(n.xid) as xids, array_agg(n.seq) as seqs, count(*) as kept
    into v_keys from howdah._still_needed(p_slot) n;
    if v_keys.kept > 0 then
        execute format('insert into howdah.topic_msgs_%s select s.* from howdah.topic_msgs_%s s
            join unnest($1, $2, $3) k(id, xid, seq) on s.destination_id = k.id and s.xid = k.xid
                and s.seq = k.seq', v_open, p_slot)
        using v_keys.ids, v_keys.xids, v_keys.seqs;
        execute format('insert into howdah.topic_nonpersistent_%s select s.* from howdah.topic_nonpersistent_%s s
            join unnest($1, $2, $3) k(id, xid, seq) on s.destination_id = k.id and s.xid = k.xid
                and s.seq = k.seq', v_open, p_slot)
        using v_keys.ids, v_keys.xids, v_keys.seqs;
    end if;
    -- No cursor will meet the messages that go now, so what was recorded about them goes, too.
    execute format('delete from howdah.acked d using howdah.acks a
        where a.id = d.ack_id and not exists (select from unnest($1, $2) k(id, seq) where k.id = a.destination_id
          and k.seq = d.seq)
          and (exists (select from howdah.topic_msgs_%1$s s where s.destination_id = a.destination_id
          and s.xid = d.xid and s.seq = d.seq)
            or exists (select from howdah.topic_nonpersistent_%1$s s where s.destination_id = a.destination_id
                and s.xid = d.xid and s.seq = d.seq))',
        p_slot)
    using v_keys.ids, v_keys.seqs;
    perform setval('howdah.topic_truncations'::regclass, (select max(r.truncations) + 1 from howdah.topic_ring r));
    execute format('truncate table only howdah.topic_msgs_%s', p_slot);
    -- Truncate it only if needed. If an UNLOGGED table's new file is undone just before a crash, PostgreSQL cannot
    -- start (docs/operations.md).
    if pg_relation_size(format('howdah.topic_nonpersistent_%s', p_slot)::regclass) > 0 then
        execute format('truncate table only howdah.topic_nonpersistent_%s', p_slot);
    end if;
    update howdah.topic_ring r
    set state = 'empty', closed_xid = null, closed_at = null,
        truncations = (select max(m.truncations) + 1 from howdah.topic_ring m)
    where r.slot = p_slot;
    return v_keys.kept;
end
$$;
