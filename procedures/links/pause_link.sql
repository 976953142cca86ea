-- howdah.pause_link(name): forward nothing more for now.
--
-- Returns  true if it was not paused (boolean).
-- Raises   HD010 not allowed; HD041 there is no such link; HD045 the master of changes is away.
-- Role     howdah_admin
create or replace function howdah.pause_link(name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id uuid := (howdah._link(pause_link.name, 'admin')).link_id;
    v_before jsonb := howdah._properties('link', pause_link.name);
begin
    update howdah.links l set paused = true where l.link_id = v_id and not l.paused;
    if found then
        perform howdah._record_change('link', pause_link.name, 'altered', v_before,
            howdah._properties('link', pause_link.name));
        return true;
    end if;
    return false;
end
$$;
