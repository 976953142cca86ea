-- howdah._lock_found(p_destination_id, p_places, p_ranks, p_keys, p_ids, p_origin_needed): lock found messages that
-- nobody has in hand.
--
-- Returns  their ids (bigint[]). With p_origin_needed, only messages whose origin still exists.
-- Role     internal
--
-- Each is found by its key. Those that another transaction or a lease has are left out.
create or replace function howdah._lock_found(
    p_destination_id integer, p_places integer[], p_ranks smallint[], p_keys bigint[], p_ids bigint[],
    p_origin_needed boolean
) returns bigint[]
language plpgsql volatile set enable_seqscan = off set plan_cache_mode = force_custom_plan set jit = off
as $$
begin
    return array(
        with found as materialized (
            select f.place, f.rank, f.key, f.id from unnest(p_places, p_ranks, p_keys, p_ids) f(place, rank, key, id)
        ), ready as (
            select m.message_id, m.origin_id from found f join howdah.msgs m
                on m.destination_id = p_destination_id and m.rank = f.rank and m.seq = f.key and m.message_id = f.id
            where f.place = 1 for update of m skip locked
        ), nonpersistent as (
            select n.message_id, n.origin_id from found f join howdah.msgs_nonpersistent n
                on n.destination_id = p_destination_id and n.rank = f.rank and n.seq = f.key and n.message_id = f.id
            where f.place = 2 and n.boot = pg_postmaster_start_time() for update of n skip locked
        ), parked as (
            select p.message_id, p.origin_id from found f join howdah.parked p
                on p.destination_id = p_destination_id and p.message_id = f.id
            where f.place = 3 and (p.parked_reason <> 'lease' or p.due_at <= howdah.now()) for update of p skip locked
        )
        select l.message_id
        from (select * from ready union all select * from nonpersistent union all select * from parked) l
        where not p_origin_needed or exists (
            select from howdah.destinations d where d.id = l.origin_id and d.dropped_at is null)
        order by l.message_id);
end
$$;
