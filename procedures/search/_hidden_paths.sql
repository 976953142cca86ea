-- howdah._hidden_paths(p_name): what the caller may not see in the bodies of a destination's messages.
--
-- Returns  text[] as howdah._redaction_paths; NULL also for a caller who may receive the messages there, or administer
--          them, and so has the bodies anyway.
-- Role     internal
create or replace function howdah._hidden_paths(p_name text) returns text[]
language plpgsql stable
as $$
declare
    v_paths text[] := howdah._redaction_paths(p_name);
begin
    if v_paths is null or exists (
        select from howdah.destinations d cross join pg_proc f
        where d.name = p_name and d.dropped_at is null and f.pronamespace = 'howdah'::regnamespace
          and f.proname = 'ack' and has_function_privilege(howdah._caller()::name, f.oid, 'EXECUTE')
          and (howdah._has_right(d.id, 'receive') or howdah._has_right(d.id, 'admin'))
    ) then
        return null;
    end if;
    return v_paths;
end
$$;
