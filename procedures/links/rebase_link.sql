-- howdah.rebase_link(name): let a link go on after one of its engines was restored, copied or set back.
--
-- Returns  the link's new identity (uuid).
-- Raises   HD010 not allowed; HD041 there is no such link; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- The link begins anew, and the other engine knows none of its messages. So look first. If this engine was set back,
-- its queue may hold messages that arrived there already: discard them here, or they come twice. If the other engine
-- was set back, messages may be missing there that were consumed here.
create or replace function howdah.rebase_link(name text) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id uuid := (howdah._link(rebase_link.name, 'admin')).link_id;
    v_new uuid := gen_random_uuid();
begin
    update howdah.links l
    set link_id = v_new, engine_id = howdah._engine_id(), target_engine_id = null, attempt = null, batch = 0,
        away_since = null
    where l.link_id = v_id;
    perform howdah._record_change('link', rebase_link.name, 'altered',
        howdah._properties('link', rebase_link.name) || jsonb_build_object('link_id', v_id),
        howdah._properties('link', rebase_link.name) || jsonb_build_object('link_id', v_new));
    return v_new;
end
$$;
