-- howdah.maintain_dropped(lock_epoch): move messages that reached a queue after it was dropped to the system exception
-- destination.
--
-- Returns  the number of messages moved (bigint).
-- Raises   HD010 called from a maintenance command; HD014 the maintenance lock is not held with this epoch; HD045 the
--          master of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- Such a message was sent by a transaction that committed after the drop, or given back by a receiver. The call also
-- drops the sequences of queues dropped over an hour ago. lock_epoch NULL: run by hand.
create or replace function howdah.maintain_dropped(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations;
    v_back record;
    v_count bigint := 0;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    for v_destination in
        select d.* from howdah.destinations d where d.dropped_at is not null and not d.name ^@ '_TEMP.'
            and d.positions <> 0::regclass  -- without its sequence nobody can send there any more
            and howdah._holds_messages(d.id)
            and (not d.auto_created or howdah._accepts_changes())
    loop
        continue when v_destination.auto_created and howdah._come_back(v_destination);
        -- Its policy was for messages that fail, and these have not. A best-effort message promises nothing.
        v_destination.at_limit := 'move';
        v_destination.exception_mode := 'system';
        v_destination.process_non_persistent := true;
        v_destination.exception_discard_reliability := case
            when v_destination.exception_discard_reliability is not null then 'BEST_EFFORT_NONPERSISTENT' end;
        for v_back in select t.message, t.nonpersistent from howdah._take_back(v_destination, null, 10000) t loop
            perform howdah._apply_limit_policy(v_destination, v_back.message, v_back.nonpersistent, 'queue dropped');
            v_count := v_count + 1;
        end loop;
    end loop;
    for v_destination in
        select d.* from howdah.destinations d
        where d.dropped_at < howdah.now() - interval '1 hour' and d.positions <> 0::regclass and not d.name ^@ '_TEMP.'
          and not howdah._holds_messages(d.id)
    loop
        perform howdah._drop_sequences(v_destination);
    end loop;
    return v_count;
end
$$;
