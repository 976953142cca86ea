-- howdah._full_keys(p_queue, p_known): keys of the next messages that have no room now, beyond those known.
--
-- Returns  text[], with those known.
-- Role     internal
--
-- It looks at the first 1000 ready messages of other keys, of all priorities, without a lock. So a receive does not
-- have to meet each full key by itself.
create or replace function howdah._full_keys(p_queue howdah.destinations, p_known text[]) returns text[]
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
begin
    return p_known || array(
        select k.key
        from (select distinct m.key
              from (select r.headers ->> p_queue.limit_key as key from howdah.msgs r
                    where r.destination_id = p_queue.id
                      and r.headers ->> p_queue.limit_key <> all (p_known)
                    order by r.rank, r.seq limit 1000) m) k
        where howdah._permit_room(p_queue, k.key, 1) = 0);
end
$$;
