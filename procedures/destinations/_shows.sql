-- howdah._shows(p_name): whether lists show a name to the caller: that of a queue, topic or subscription.
--
-- Returns  boolean; false for what does not exist, unless the caller sees all.
-- Raises   HD010 as howdah._refuse_maintenance.
-- Role     internal
create or replace function howdah._shows(p_name text) returns boolean
language plpgsql stable
as $$
begin
    return howdah._sees_all() or exists (select from howdah.destinations d
        where d.name = p_name and d.dropped_at is null and howdah._may_see(d.id));
end
$$;
