-- howdah._restore_history(p_changes): put the changes of a backup into a record that is empty.
--
-- Returns  how many (bigint).
-- Role     internal
create or replace function howdah._restore_history(p_changes jsonb[]) returns bigint
language plpgsql volatile
as $$
declare
    v_count bigint;
begin
    if exists (select from howdah.config_changes) then
        return 0;
    end if;
    insert into howdah.config_changes overriding system value
    select r.* from unnest(p_changes) c(change)
    cross join lateral jsonb_populate_record(null::howdah.config_changes, c.change || '{"transaction": 3}') r;
    get diagnostics v_count = row_count;
    perform setval(pg_get_serial_sequence('howdah.config_changes', 'change_id')::regclass,
        (select max(c.change_id) from howdah.config_changes c)) where v_count > 0;
    return v_count;
end
$$;
