-- howdah.count_matching(queue, filter, after): count the messages that match a filter of howdah.find_messages, for a
-- preview.
--
-- Returns  one row: matching, looked, complete, and the cursor from which the next call goes on (NULL at the end).
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed; HD023 the selector is invalid; HD037 on a
--          standby.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
--
-- One call looks at 100,000 rows or 32 MB of bodies at most.
create or replace function howdah.count_matching(queue text, filter jsonb default '{}', after jsonb default null)
returns table (matching bigint, looked bigint, complete boolean, cursor jsonb)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'browse');
begin
    perform howdah._check_all_here();
    perform howdah._check_filter(filter, after);
    return query
    select count(f.message_id), max(f.looked), bool_or(f.complete),
        (array_agg(f.cursor) filter (where f.message_id is null))[1]
    from howdah._found(v_destination, filter, after, 100000, 100000, '{1,2,3,4}',
        howdah._redaction_paths(v_destination.name, null, null)) f;
end
$$;
