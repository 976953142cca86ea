-- howdah._ensure_destination(p_name, p_kind): create a queue or topic unless something has its name, if the engine's
-- options say so.
--
-- Raises   HD002, HD004, HD010, HD027 as howdah._autocreate.
-- Role     internal
--
-- p_kind is queue or topic. NULL: a queue, or a topic if the name was that of one that ended by itself.
create or replace function howdah._ensure_destination(p_name text, p_kind text) returns void
language plpgsql volatile
as $$
begin
    if not exists (select from howdah.destinations d where d.name = p_name and d.dropped_at is null) then
        perform howdah._autocreate(p_name, p_kind);
    end if;
end
$$;
