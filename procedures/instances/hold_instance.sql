-- howdah.hold_instance(instance_id, epoch): refuse to commit what an instance did under an exclusive lease that it has
-- lost.
--
-- Raises   HD046 the exclusive lease expired or went to another instance.
-- Role     howdah_consumer howdah_admin
--
-- Workers of an exclusive instance send it together with each COMMIT. In a transaction that has written, it also keeps
-- the lease from changing hands until that commit is done. So a process that was paused writes nothing after another
-- instance took over.
create or replace function howdah.hold_instance(instance_id uuid, epoch bigint) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if pg_current_xact_id_if_assigned() is null then
        perform from howdah.lock l
        where l.name = 'exclusive' and l.epoch = hold_instance.epoch and l.holder = hold_instance.instance_id::text
          and l.expires_at > howdah.now();
    else
        perform from howdah.lock l
        where l.name = 'exclusive' and l.epoch = hold_instance.epoch and l.holder = hold_instance.instance_id::text
          and l.expires_at > howdah.now()
        for share;
    end if;
    if not found then
        raise exception using errcode = 'HD046',
            message = format('instance %s no longer has the exclusive lease', coalesce(instance_id::text, 'NULL')),
            hint = 'It was silent for too long, and another instance may receive now.';
    end if;
end
$$;
