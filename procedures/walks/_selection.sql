-- howdah._selection(p_destination_id, p_rank, p_selector): a compiled selector, from the database if it was used
-- before.
--
-- Returns  the condition (text), as howdah._compile_selector; NULL if it selects everything.
-- Raises   HD023 the selector is invalid.
-- Role     internal
--
-- The first use stores it, up to 1,000 per queue. howdah.maintain_consumers deletes those not used for a day.
create or replace function howdah._selection(p_destination_id integer, p_rank smallint, p_selector text) returns text
language plpgsql volatile
as $$
declare
    v_row record;
    v_condition text;
begin
    select s.condition, s.used_at into v_row from howdah.selections s
    where s.destination_id = p_destination_id and s.digest = md5(p_selector)::uuid and s.rank = p_rank
      and s.selector = p_selector;
    if found then
        if v_row.used_at < howdah.now() - interval '1 hour' then
            update howdah.selections s set used_at = howdah.now()
            where s.ctid = any (array(select u.ctid from howdah.selections u
                                      where u.destination_id = p_destination_id and u.digest = md5(p_selector)::uuid
                                      for update skip locked));
        end if;
        return v_row.condition;
    end if;
    v_condition := howdah._compile_selector(p_selector);
    if v_condition is not null and pg_try_advisory_xact_lock(howdah._lock_key('selector',
        p_destination_id || ':' || p_selector))
       and (select count(*) < 1000 from (select from howdah.selections s where s.destination_id = p_destination_id
           limit 1000) l) then
        insert into howdah.selections (destination_id, digest, rank, selector, condition, used_at)
        values (p_destination_id, md5(p_selector)::uuid, p_rank, p_selector, v_condition, howdah.now())
        on conflict do nothing;
    end if;
    return v_condition;
end
$$;
