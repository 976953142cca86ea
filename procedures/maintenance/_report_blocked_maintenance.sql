-- howdah._report_blocked_maintenance(p_service, p_object, p_reason): report what maintenance leaves undone and why, or
-- that it no longer does.
--
-- Role     internal
--
-- It raises a NOTICE for whoever runs the pass, and stores a row for howdah.check_server(). p_reason NULL: it is done,
-- or no longer to be done.
create or replace function howdah._report_blocked_maintenance(p_service text, p_object text, p_reason text) returns void
language plpgsql volatile
as $$
begin
    if p_reason is null then
        delete from howdah.maintenance_waits w where w.service = p_service and w.object = p_object;
        return;
    end if;
    raise notice '% is left as it is: %', p_object, p_reason;
    insert into howdah.maintenance_waits as w (service, object, reason, since)
    values (p_service, p_object, p_reason, howdah.now())
    on conflict on constraint pk_maintenance_waits do update set reason = excluded.reason
        where w.reason <> excluded.reason;
end
$$;
