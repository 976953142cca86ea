-- howdah.link_away(name, holder, error): give up a link for now, and record why nothing can be forwarded.
--
-- Returns  true if this is new: the link was not away before (boolean).
-- Raises   HD010 not allowed; HD041 there is no such link; HD001, HD003, HD005, HD009, HD016, HD019, HD023, HD024,
--          HD025, HD032, HD040 as howdah.receive for the link's source; HD002, HD004, HD027 the missing queue cannot
--          create itself (docs/auto-creation.md); HD045 the master of changes is away; HD049 the transformation cannot
--          be called (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- Another forwarder may then try from where it runs. error NULL: there is no error, the forwarder ends.
--
-- Messages of the level best effort do not wait for a target that is away. Those that lie in the queue are discarded.
create or replace function howdah.link_away(name text, holder text, error text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_link howdah.links := howdah._link(link_away.name, 'receive');
begin
    if pg_try_advisory_xact_lock(howdah._lock_key('link', v_link.name)) then
        update howdah.lock k set holder = null, held_as = null, expires_at = null
        where k.name = 'link:' || v_link.name and k.holder = link_away.holder and k.held_as = howdah._caller();
        if error is not null then
            update howdah.links l
            set away_since = coalesce(l.away_since, howdah.now()), error_at = howdah.now(),
                last_error = left(error, 2000)
            where l.link_id = v_link.link_id;
            if v_link.away_since is null then
                perform howdah._log_event('LINK_AWAY', d.name, jsonb_build_object('link', v_link.name,
                    'error', left(error, 500)))
                from howdah.destinations d where d.id = v_link.source_id;
            end if;
            perform howdah._link_drop(v_link);
        end if;
    end if;
    return v_link.away_since is null and error is not null;
end
$$;
