-- howdah._add_selection(p_destination_id, p_rank, p_walk): let a selector remember how far it has looked in a lane.
--
-- Role     internal
--
-- One of several consumers creates the sequences; nobody waits. Until its transaction commits, the others look from
-- the beginning.
create or replace function howdah._add_selection(
    p_destination_id integer, p_rank smallint, p_walk howdah.walk
) returns void
language plpgsql volatile
as $$
declare
    v_digest uuid := md5(p_walk.selector)::uuid;
    v_row tid;
    v_id bigint;
begin
    if not pg_try_advisory_xact_lock(howdah._lock_key('selector', p_destination_id || ':' || p_walk.selector)) then
        return;
    end if;
    insert into howdah.selections as s (destination_id, digest, rank, selector, condition, used_at)
    values (p_destination_id, v_digest, p_rank, p_walk.selector, p_walk.condition, howdah.now())
    on conflict do nothing;
    select s.ctid into v_row from howdah.selections s
    where s.destination_id = p_destination_id and s.digest = v_digest and s.rank = p_rank
      and s.selector = p_walk.selector and s.head is null
    for update skip locked;
    if found then
        v_id := nextval(pg_get_serial_sequence('howdah.lanes', 'id'));  -- for the sequences' names, as a lane's
        update howdah.selections s set head = howdah._new_hint('head_' || v_id),
            search = howdah._new_hint('search_' || v_id)
        where s.ctid = v_row;
    end if;
end
$$;
