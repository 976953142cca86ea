-- howdah._forget_selections(): delete selectors that nobody used for a day, with their hints and what their
-- looks found ahead.
--
-- Returns  how many were deleted (bigint).
-- Role     internal
--
-- A selector that a transaction still uses is left for the next time.
create or replace function howdah._forget_selections() returns bigint
language plpgsql volatile set lock_timeout = '50ms'
as $$
declare
    v_row record;
    v_count bigint := 0;
begin
    for v_row in
        delete from howdah.selections s
        where s.used_at < howdah.now() - interval '24 hours'
          or exists (select from howdah.destinations d where d.id = s.destination_id and d.dropped_at is not null)
        returning s.head, s.search
    loop
        if v_row.head is not null then
            execute format('drop sequence %s, %s', v_row.head, v_row.search);
        end if;
        v_count := v_count + 1;
    end loop;
    delete from howdah.candidates c
    where not exists (select from howdah.selections s
                      where s.destination_id = c.destination_id and s.digest = c.digest and s.rank = c.rank);
    return v_count;
exception when lock_not_available then
    return 0;
end
$$;
