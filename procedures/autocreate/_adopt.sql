-- howdah._adopt(p_id): make a destination that created itself an administrator's, which does not end by itself.
--
-- Role     internal
create or replace function howdah._adopt(p_id integer) returns void
language plpgsql volatile
as $$
begin
    update howdah.destinations d set auto_created = false where d.id = p_id and d.auto_created;
    if found then
        delete from howdah.auto_destinations a where a.destination_id = p_id;
    end if;
end
$$;
