-- howdah.pause_link(name): forward nothing more for now.
--
-- Returns  true if it was not paused (boolean).
-- Raises   HD010 not allowed; HD041 there is no such link; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- The act is in howdah.list_acts, with the setting howdah.reason.
create or replace function howdah.pause_link(name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_link howdah.links := howdah._link(pause_link.name, 'admin');
    v_before jsonb := howdah._properties('link', pause_link.name);
begin
    update howdah.links l set paused = true where l.link_id = v_link.link_id and not l.paused;
    if found then
        perform howdah._record_change('link', pause_link.name, 'altered', v_before,
            howdah._properties('link', pause_link.name));
        perform howdah._record_act('paused', v_link.source_id, '{}', null, howdah._why('link ' || v_link.name));
        return true;
    end if;
    return false;
end
$$;
