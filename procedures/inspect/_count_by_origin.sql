-- howdah._count_by_origin(p_destination_id, p_most): count the messages of each origin in one destination, up to p_most
-- in each table (NULL: all).
--
-- Returns  origin_id (NULL: never moved there) and the number of messages. Leased messages are in somebody's hands and
--          not counted.
-- Role     internal
create or replace function howdah._count_by_origin(
    p_destination_id integer, p_most bigint
) returns table (origin_id integer, messages bigint)
language plpgsql stable
as $$
begin
    return query
    select g.origin_id, count(*)
    from (
        (select m.origin_id from howdah.msgs m where m.destination_id = p_destination_id limit p_most)
        union all
        (select n.origin_id from howdah.msgs_nonpersistent n
         where n.destination_id = p_destination_id and n.boot = pg_postmaster_start_time() limit p_most)
        union all
        (select p.origin_id from howdah.parked p
         where p.destination_id = p_destination_id and (p.boot is null or p.boot = pg_postmaster_start_time())
         limit p_most)
    ) g
    group by g.origin_id;
end
$$;
