-- howdah._end_held(p_destination, p_message_ids, p_priorities, p_positions, p_event, p_reason, p_reliability): end
-- messages that the transaction holds, and record them as consumed or discarded.
--
-- Returns  the ids of those that are not there, or no longer (bigint[]); NULL if there are none.
-- Role     internal
--
-- p_reliability: the level of all of them, for a discard.
create or replace function howdah._end_held(
    p_destination howdah.destinations, p_message_ids bigint[], p_priorities integer[], p_positions bigint[],
    p_event text, p_reason text, p_reliability smallint default null
) returns bigint[]
language plpgsql volatile set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set jit = off
as $$
declare
    v_missing bigint[];
    v_persistent bigint[];
    v_nonpersistent bigint[];
    v_oldest timestamptz;
    v_oldest_nonpersistent timestamptz;
    v_apart bigint[];
begin
    if p_destination.keep_bodies_ms is not null and p_event = 'consumed' then
        perform howdah._keep_held(p_destination, p_message_ids, p_priorities, p_positions);
    end if;
    with ready as (
        delete from howdah.msgs m
        where m.ctid = any (howdah._ready_rows(p_destination.id, p_message_ids, p_priorities, p_positions))
        returning m.message_id, m.sent_at, m.body is null as apart
    ), nonpersistent as (
        delete from howdah.msgs_nonpersistent n
        where n.ctid = any (howdah._nonpersistent_rows(p_destination.id, p_message_ids, p_priorities, p_positions))
        returning n.message_id, n.sent_at
    ), parked as (
        delete from howdah.parked p where p.ctid = any (howdah._parked_rows(p_destination.id, p_message_ids))
        returning p.message_id, p.sent_at, p.boot is not null as nonpersistent, p.body is null as apart
    ), gone as (
        select r.message_id, r.sent_at, false as nonpersistent, r.apart from ready r
        union all select n.message_id, n.sent_at, true, false from nonpersistent n
        union all select p.message_id, p.sent_at, p.nonpersistent, p.apart from parked p
    )
    select array_agg(w.message_id) filter (where g.message_id is null),
        array_agg(w.message_id) filter (where not g.nonpersistent),
        array_agg(w.message_id) filter (where g.nonpersistent), min(g.sent_at) filter (where not g.nonpersistent),
        min(g.sent_at) filter (where g.nonpersistent), array_agg(w.message_id) filter (where g.apart)
    into v_missing, v_persistent, v_nonpersistent, v_oldest, v_oldest_nonpersistent, v_apart
    from (select distinct i.id as message_id from unnest(p_message_ids) i(id)) w
    left join gone g on g.message_id = w.message_id;
    if v_missing is not null then
        v_missing := howdah._consume_published(p_destination, v_missing, p_event, p_reason);
    end if;
    perform howdah._journal(p_destination, p_event, v_persistent, false, null, p_reason, v_oldest,
        coalesce(v_apart, '{}'), p_reliability);
    perform howdah._journal(p_destination, p_event, v_nonpersistent, true, null, p_reason, v_oldest_nonpersistent,
        p_reliability => p_reliability);
    return v_missing;
end
$$;
