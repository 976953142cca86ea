-- howdah.list_transformations(after, max_rows): list the registered transformations.
--
-- Returns  one row for each, by name. function: its function with the schema. unfit: why it cannot be called now; NULL:
--          it can. used_by: the bridges, links and subscriptions that have it.
-- Raises   HD005 max_rows is not 1 to 10000; HD010 called from a maintenance command.
-- Role     howdah_admin howdah_auditor
--
-- max_rows NULL: all. For the next page, pass the last name as after.
create or replace function howdah.list_transformations(after text default null, max_rows integer default null)
returns table (
    name text, function text, unfit text, used_by text[], registered_at timestamptz, registered_by text
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    return query
    select t.name, t.function, howdah._function_fault(t.function, t.function_owner, 'transformation'),
        array(select concat_ws(' ', u.kind, u.used_by) from howdah._transformation_users() u
              where u.transformation = t.name order by 1),
        t.registered_at, t.registered_by
    from howdah.transformations t
    where after is null or t.name > after
    order by t.name limit howdah._most_rows(max_rows);
end
$$;
