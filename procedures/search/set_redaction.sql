-- howdah.set_redaction(pattern, path, reason): hide a part of the bodies of all queues whose names match a wildcard.
--
-- Returns  true if the rule is new (boolean).
-- Raises   HD003 the pattern is no wildcard; HD005 the path is none; HD010 not allowed; HD045 the master of changes
--          is away.
-- Role     howdah_admin
--
-- The path is a JSON path of names and elements, with * for any: $.card.number, $.people[*].name. $ is the whole body.
-- Where any rule matches, a body that is no JSON object or array is hidden as a whole. docs/search.md says where bodies
-- are redacted. Headers are not. It takes the right admin at all queues and topics that the pattern covers.
create or replace function howdah.set_redaction(pattern text, path text, reason text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_name text := pattern || ' ' || path;
    v_before jsonb := howdah._properties('redaction', v_name);
begin
    perform howdah._refuse_maintenance();
    perform howdah._check_pattern(pattern);
    perform howdah._check_pattern_right(pattern);
    if howdah._path_parts(path) is null then
        raise exception using errcode = 'HD005', message = format('%s is no path of a redaction rule',
            coalesce(quote_literal(left(path, 250)), 'NULL')),
            hint = 'Up to 20 names and elements in 1000 characters: $.card.number, $.staff[*].pin; $: the whole body.';
    end if;
    insert into howdah.redactions as r (pattern, path, reason, set_at, set_by)
    values (set_redaction.pattern, set_redaction.path, set_redaction.reason, howdah.now(), howdah._caller())
    on conflict on constraint pk_redactions do update set reason = excluded.reason, set_at = excluded.set_at,
        set_by = excluded.set_by;
    perform howdah._record_change('redaction', v_name, case when v_before is null then 'created' else 'altered' end,
        v_before, howdah._properties('redaction', v_name), null, reason);
    return v_before is null;
end
$$;
