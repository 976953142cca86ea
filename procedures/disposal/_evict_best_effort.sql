-- howdah._evict_best_effort(p_id, p_messages, p_bytes, p_rank): discard stored best-effort messages, because resources
-- are short.
--
-- Returns  how many (bigint): as many as make room for p_messages and p_bytes, or all there are.
-- Role     internal
--
-- They are the oldest of the destination p_id, or of all (NULL). With p_rank they are those of the lowest priority, and
-- none above the priority of p_rank. Messages that a transaction or a lease holds stay.
create or replace function howdah._evict_best_effort(
    p_id integer, p_messages bigint, p_bytes bigint, p_rank integer default null
) returns bigint
language plpgsql volatile set enable_seqscan = off set jit = off set plan_cache_mode = force_custom_plan
as $$
declare
    v_wanted bigint := p_messages;
    v_gone howdah.msgs[];
    v_parked howdah.msgs[];
begin
    if p_bytes > 0 then
        select greatest(p_messages, count(*)) into v_wanted
        from (
            select sum(octet_length(n.body)) over (order by n.sent_at, n.seq) - octet_length(n.body) as before
            from howdah.msgs_nonpersistent n where n.reliability = 0 and (p_id is null or n.destination_id = p_id)
        ) w
        where w.before < p_bytes;
    end if;
    with gone as (
        delete from howdah.msgs_nonpersistent n where n.ctid = any (array(
            select c.ctid from howdah.msgs_nonpersistent c
            where c.reliability = 0 and c.boot = pg_postmaster_start_time()
              and (p_id is null or c.destination_id = p_id) and c.rank >= coalesce(p_rank, 0)
            order by case when p_rank is not null then -c.rank end, c.sent_at, c.seq
            limit v_wanted for update skip locked))
        returning howdah._as_ready(n) as message, n.body
    )
    select array_agg(g.message), p_bytes - coalesce(sum(octet_length(g.body)), 0) into v_gone, p_bytes from gone g;
    v_wanted := greatest(p_messages - coalesce(cardinality(v_gone), 0), (p_bytes > 0)::integer);
    with gone as (
        delete from howdah.parked p where p.ctid = any (array(
            select c.ctid from howdah.parked c
            where c.reliability = 0 and c.boot = pg_postmaster_start_time()
              and (p_id is null or c.destination_id = p_id) and c.rank >= coalesce(p_rank, 0)
              and (c.parked_reason <> 'lease' or c.due_at <= howdah.now())
            order by case when p_rank is not null then -c.rank end, c.sent_at, c.seq
            limit v_wanted for update skip locked))
        returning howdah._as_ready(p) as message
    )
    select array_agg(g.message) into v_parked from gone g;
    v_gone := v_gone || v_parked;
    perform howdah._journal(d, 'discarded', g.message_ids, true, null, 'RESOURCES', g.oldest, null, 0::smallint)
    from (select m.destination_id, array_agg(m.message_id order by m.message_id) as message_ids,
              min(m.sent_at) as oldest
          from unnest(v_gone) m group by m.destination_id) g
    join howdah.destinations d on d.id = g.destination_id;
    return coalesce(cardinality(v_gone), 0);
end
$$;
