-- howdah.config_changes(after_position, max_changes, of_kind, of_name): read the record of what administrators changed,
-- in the order of commits.
--
-- Returns  at most max_changes rows. position is what to pass as after_position to go on behind the row.
-- Raises   HD005 after_position is no position, or max_changes is not 1 to 10000; HD010 called from a maintenance
--          command; HD036 retention has dropped changes after it; HD037 it is a position in another record.
-- Role     howdah_admin howdah_auditor howdah_consumer
--
-- after_position NULL: from the beginning. No change is left out, however long its transaction takes: it comes once it
-- is committed. A role that does not administer reads only what concerns destinations that the caller may browse or
-- receive from.
create or replace function howdah.config_changes(
    after_position text default null, max_changes integer default 1000, of_kind text default null,
    of_name text default null
) returns table (
    change_id bigint, at timestamptz, actor text, kind text, name text, act text, before jsonb, after jsonb,
    reason text, undoes bigint, "position" text
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_record constant uuid := (select e.record_id from howdah.engine e);
    v_parts text[] := string_to_array(coalesce(after_position, v_record || '/3:3:/3:3:/0'), '/');
begin
    if (max_changes between 1 and 10000) is not true or cardinality(v_parts) <> 4
       or v_parts[1] !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
       or v_parts[2] !~ '^[0-9]{1,18}:[0-9]{1,18}:[0-9,]*$'
       or v_parts[3] !~ '^[0-9]{1,18}:[0-9]{1,18}:[0-9,]*$' or v_parts[4] !~ '^[0-9]{1,18}$' then
        raise exception using errcode = 'HD005', message = 'wrong position or number of changes',
            hint = 'after_position is the position of a row, or NULL; max_changes is 1 to 10000.';
    end if;
    if after_position is not null then
        perform howdah._check_position(v_parts[1]::uuid, v_parts[2]::pg_snapshot);
    end if;
    return query
    select c.change_id, c.at, c.actor, c.kind, c.name, c.act, c.before, c.after, c.reason, c.undoes,
        concat_ws('/', v_record, s.in_read, s.in_upto, c.change_id)
    from howdah._changes_since(v_parts[2]::pg_snapshot, v_parts[3]::pg_snapshot, v_parts[4]::bigint, 2147483647)
        with ordinality s(change_id, in_read, in_upto, n)
    join howdah.config_changes c on c.change_id = s.change_id
    where (of_kind is null or c.kind = of_kind) and (of_name is null or c.name = of_name)
      and howdah._may_see_change(c.kind, c.name, coalesce(c.after, c.before))
    order by s.n
    limit max_changes;
exception when invalid_text_representation then
    raise exception using errcode = 'HD005', message = 'wrong position of a change',
        hint = 'after_position is the position of a row, or NULL.';
end
$$;
