-- howdah.drop_link(name): drop a link; messages that were not forwarded stay where they are.
--
-- Raises   HD010 not allowed; HD041 there is no such link; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- It waits for a batch that is under way. The other engine keeps its row of the link until
-- howdah.forget_arrivals(link_id) is called there.
create or replace function howdah.drop_link(name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id uuid := (howdah._link(drop_link.name, 'admin')).link_id;
    v_before jsonb := howdah._properties('link', drop_link.name);
begin
    delete from howdah.links l where l.link_id = v_id;
    perform howdah._record_change('link', drop_link.name, 'dropped', v_before, null);
end
$$;
