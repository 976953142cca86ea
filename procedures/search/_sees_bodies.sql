-- howdah._sees_bodies(p_name): whether the caller sees the whole bodies of a destination's messages.
--
-- Returns  boolean: there is no redaction rule at all, or the caller may receive the messages there, or administer
--          them, and so has the bodies anyway.
-- Role     internal
create or replace function howdah._sees_bodies(p_name text) returns boolean
language plpgsql stable
as $$
begin
    return not exists (select from howdah.redactions) or exists (
        select from howdah.destinations d cross join pg_proc f
        where d.name = p_name and d.dropped_at is null and f.pronamespace = 'howdah'::regnamespace
          and f.proname = 'ack' and has_function_privilege(howdah._caller()::name, f.oid, 'EXECUTE')
          and (howdah._has_right(d.id, 'receive') or howdah._has_right(d.id, 'admin')));
end
$$;
