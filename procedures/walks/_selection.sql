-- howdah._selection(p_destination_id, p_rank, p_selector): a selector compiled, from the database where it was used before.
--
-- Returns  the condition (text), as howdah._selector_sql; NULL: it selects everything.
-- Raises   HD023 the selector is invalid.
-- Role     internal
--
-- The first use keeps it, up to 1,000 a queue; howdah.maintain_consumers forgets what was not used for a day.
create or replace function howdah._selection(p_destination_id integer, p_rank smallint, p_selector text) returns text
language plpgsql volatile
as $$
declare
    v_row record;
    v_condition text;
begin
    select s.condition, s.used_at into v_row from howdah.selections s
    where s.destination_id = p_destination_id and s.digest = md5(p_selector)::uuid and s.rank = p_rank and s.selector = p_selector;
    if found then
        if v_row.used_at < howdah.now() - interval '1 hour' then
            update howdah.selections s set used_at = howdah.now()
            where s.ctid = any (array(select u.ctid from howdah.selections u
                                      where u.destination_id = p_destination_id and u.digest = md5(p_selector)::uuid
                                      for update skip locked));
        end if;
        return v_row.condition;
    end if;
    v_condition := howdah._selector_sql(p_selector);
    if v_condition is not null and pg_try_advisory_xact_lock(howdah._lock_key('selector', p_destination_id || ':' || p_selector))
       and (select count(*) < 1000 from (select from howdah.selections s where s.destination_id = p_destination_id limit 1000) l) then
        insert into howdah.selections (destination_id, digest, rank, selector, condition, used_at)
        values (p_destination_id, md5(p_selector)::uuid, p_rank, p_selector, v_condition, howdah.now())
        on conflict do nothing;
    end if;
    return v_condition;
end
$$;

-- howdah._add_selection(p_destination_id, p_rank, p_walk): let a selector remember how far it looked in a lane.
--
-- Role     internal
--
-- Of several consumers one makes the sequences; nobody waits. Until its transaction commits, the others look from the beginning.
create or replace function howdah._add_selection(p_destination_id integer, p_rank smallint, p_walk howdah.walk) returns void
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
    where s.destination_id = p_destination_id and s.digest = v_digest and s.rank = p_rank and s.selector = p_walk.selector and s.head is null
    for update skip locked;
    if found then
        v_id := nextval(pg_get_serial_sequence('howdah.lanes', 'id'));  -- for the sequences' names, as a lane's
        update howdah.selections s set head = howdah._new_hint('head_' || v_id), search = howdah._new_hint('search_' || v_id)
        where s.ctid = v_row;
    end if;
end
$$;
