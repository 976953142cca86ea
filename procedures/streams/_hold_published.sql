-- howdah._hold_published(p_message_ids): keep non-persistent topic messages from being discarded with their sender
-- until the transaction ends.
--
-- Returns  the ids of those that were discarded meanwhile (bigint[]).
-- Role     internal
--
-- Only messages that go with their sender are looked at: howdah.sent_by names their transactions, and with them the
-- rows. howdah._discard_sent skips rows that are locked.
create or replace function howdah._hold_published(p_message_ids bigint[]) returns bigint[]
language plpgsql volatile set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_mine bigint[];
    v_held bigint[] := '{}';
    v_more bigint[];
begin
    v_mine := array(
        select b.message_id from howdah.sent_by b
        where b.destination_id = any (array(select distinct (i.id % 1000000)::integer from unnest(p_message_ids) i(id)))
          and b.message_id = any (p_message_ids));
    if v_mine = '{}' then
        return '{}';
    end if;
    -- for N in 0, 1, 2:
    v_more := array(
        select t.seq * 1000000 + t.destination_id
        from howdah.sent_by b join howdah.topic_nonpersistent_N t
            on t.destination_id = b.destination_id and t.xid = b.xid and t.seq = b.message_id / 1000000
        where b.destination_id = any (array(select distinct (i.id % 1000000)::integer from unnest(v_mine) i(id)))
          and b.message_id = any (v_mine)
        for key share of t);
    v_held := v_held || v_more;
    -- end for
    return array(select m.id from unnest(v_mine) m(id) where m.id <> all (v_held));
end
$$;
