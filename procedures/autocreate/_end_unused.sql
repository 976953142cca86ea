-- howdah._end_unused(p_ids): drop the destinations among some that created themselves and that nobody uses.
--
-- Returns  how many (bigint).
-- Role     internal
--
-- The second look sees what was committed before the rows were locked. A session may send later, because its statement
-- saw the queue before; it brings the queue back (howdah._come_back). While the master of changes is away, all stay.
create or replace function howdah._end_unused(p_ids integer[]) returns bigint
language plpgsql volatile
as $$
declare
    v_ids integer[] := howdah._unused_destinations(p_ids);
    v_count bigint;
begin
    if not howdah._accepts_changes() then
        return 0;
    end if;
    v_ids := array(
        select d.id from howdah.destinations d where d.id = any (v_ids) order by d.id for update skip locked);
    v_ids := howdah._unused_destinations(v_ids);
    perform howdah._end_destination(d.id), howdah._record_change(d.kind, d.name, 'dropped',
        jsonb '{"auto_created": true}', null)
    from howdah.destinations d where d.id = any (v_ids);
    get diagnostics v_count = row_count;
    update howdah.auto_destinations a set looked_at = 'infinity' where a.destination_id = any (v_ids);
    return v_count;
end
$$;
