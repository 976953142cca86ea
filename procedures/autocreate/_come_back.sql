-- howdah._come_back(p_destination): bring back a destination that ended by itself, because a message reached it after
-- that.
--
-- Returns  boolean; false if another one has its name now.
-- Role     internal
create or replace function howdah._come_back(p_destination howdah.destinations) returns boolean
language plpgsql volatile
as $$
begin
    perform pg_advisory_xact_lock(howdah._lock_key('name', p_destination.name));
    if exists (select from howdah.destinations d where d.name = p_destination.name and d.dropped_at is null)
       or exists (select from howdah.aliases a where a.name = p_destination.name)
       or not howdah._create_again(p_destination.name, p_destination.kind, null) then
        return false;
    end if;
    perform howdah._record_change(p_destination.kind, p_destination.name, 'created', null,
        jsonb '{"auto_created": true}');
    return true;
end
$$;
