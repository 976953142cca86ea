-- howdah.queue_names(part, after_name, max_names): names of queues that the caller may browse, page by page.
--
-- Returns  at most max_names names (setof text) in order, each after after_name and with part in it, in any case.
-- Raises   HD005 max_names is not 1 to 1000; HD010 called from a maintenance command.
-- Role     howdah_admin howdah_browser howdah_consumer howdah_auditor
create or replace function howdah.queue_names(
    part text default null, after_name text default null, max_names integer default 100
) returns setof text
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp set jit = off
as $$
begin
    if max_names is null or max_names not between 1 and 1000 then
        raise exception using errcode = 'HD005',
            message = format('max_names must be 1 to 1000, not %s', coalesce(max_names::text, 'NULL'));
    end if;
    return query
    select d.name from howdah._seen_queues() v(id) join howdah.destinations d on d.id = v.id
    where (after_name is null or d.name > after_name)
      and (part is null or position(lower(part) in lower(d.name)) > 0)
    order by d.name limit max_names;
end
$$;
