-- howdah._keep_receipts(p_arrival_id, p_attempt, p_started, p_message_ids, …): note what a batch brought, one row for
-- each level.
--
-- Role     internal
--
-- p_started: when the sending server started. p_levels: as of howdah._link_store. The first message of a level shows
-- whether this queue keeps it as non-persistent. Some best-effort messages may be lost already, so all of them are
-- asked.
create or replace function howdah._keep_receipts(
    p_arrival_id integer, p_attempt uuid, p_started timestamptz, p_message_ids bigint[], p_sent_ats timestamptz[],
    p_local_ids bigint[], p_levels text[]
) returns void
language plpgsql volatile
as $$
begin
    insert into howdah.link_receipts (arrival_id, attempts, arrived_at, sender_boot, nonpersistent, message_ids,
        sent_ats, local_ids)
    select p_arrival_id, array[p_attempt], howdah.now(),
        case when l.level like '%NONPERSISTENT' then coalesce(p_started, '-infinity') end,
        exists (select from unnest(case when l.level ^@ 'BEST' then l.local_ids else l.local_ids[:1] end) i(id)
            join howdah.msgs_nonpersistent n on n.destination_id = i.id % 1000000
                and n.rank = any ('{0,1,2,3,4,5,6,7,8,9}') and n.seq = i.id / 1000000),
        l.message_ids, l.sent_ats, l.local_ids
    from (
        select p_levels[1] as level, p_message_ids as message_ids, p_sent_ats as sent_ats, p_local_ids as local_ids
        where cardinality(p_levels) = 1
        union all
        select m.level, array_agg(m.message_id), array_agg(m.sent_at), array_agg(m.local_id)
        from unnest(p_message_ids, p_sent_ats, p_local_ids, p_levels) m(message_id, sent_at, local_id, level)
        where cardinality(p_levels) > 1
        group by m.level
    ) l;
end
$$;
