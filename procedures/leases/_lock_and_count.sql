-- howdah._lock_and_count(p_id, p_rank, p_positions, p_locked, p_limit): lock messages that are to be leased, and count
-- their failures.
--
-- Returns  one row: the positions locked; the numbers of messages that failed, with their failures; the numbers of
--          those that have reached the limit (NULL: none).
-- Role     internal
--
-- Lock first: failures are counted with a snapshot taken after the lock (howdah._count_failures). p_locked: the caller
-- has locked the positions.
create or replace function howdah._lock_and_count(
    p_id integer, p_rank smallint, p_positions bigint[], p_locked boolean, p_limit integer,
    out positions bigint[], out failed bigint[], out failures integer[], out ended bigint[]
) returns record
language plpgsql volatile
as $$
begin
    positions := array(
        select m.seq from howdah.msgs m
        where m.destination_id = p_id and m.rank = p_rank
          and m.seq between p_positions[1] and p_positions[cardinality(p_positions)] and m.seq = any (p_positions)
          and (p_locked or m.xmax = 0)
        order by m.seq for update skip locked);
    if cardinality(positions) = 0 then
        return;
    end if;
    select array_agg(f.message_id), array_agg(f.failures), array_agg(f.message_id) filter (where f.weight >= p_limit)
    into failed, failures, ended
    from (select array_agg(m.message_id) as ids, array_agg(m.stage) as stages,
              array_agg(m.conversation_id) as conversations,
              array_agg(howdah._group(m.headers, m.conversation_id)) as groups
          from howdah.msgs m
          where m.destination_id = p_id and m.rank = p_rank and m.seq = any (positions) and m.stage = 0) a
    cross join lateral howdah._count_failures(p_id, a.ids, a.stages, a.conversations, a.groups) f
    where f.stage = 0;
end
$$;
