-- howdah._discard_delayed(p_destination, p_rows): discard parked rows that the caller has locked.
--
-- Returns  the number of messages (bigint).
-- Role     internal
create or replace function howdah._discard_delayed(p_destination howdah.destinations, p_rows tid[]) returns bigint
language plpgsql volatile
as $$
declare
    v_gone record;
    v_count bigint := 0;
begin
    perform howdah._commit_needs(4);
    for v_gone in
        with gone as (delete from howdah.parked p where p.ctid = any (p_rows) returning p.message_id,
            p.boot is not null as nonpersistent)
        select g.nonpersistent, array_agg(g.message_id order by g.message_id) as ids from gone g
        group by g.nonpersistent
    loop
        perform howdah._journal(p_destination, 'discarded', v_gone.ids, v_gone.nonpersistent, null, 'cancelled');
        v_count := v_count + cardinality(v_gone.ids);
    end loop;
    return v_count;
end
$$;
