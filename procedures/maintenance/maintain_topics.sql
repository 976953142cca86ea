-- howdah.maintain_topics(lock_epoch): turn the ring of topic tables, and free the space of what nobody needs any more.
--
-- Returns  what was done, for a log (text); empty if there was nothing to do.
-- Raises   HD005 the transaction is not READ COMMITTED; HD014 the maintenance lock is not held with this epoch; HD010
--          called from a maintenance command; HD025 a restored database; HD045 the master of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- It never waits longer than 50 ms for a lock; what a reader or a late publisher holds is left for the next time. A
-- table is closed once no transaction that wrote to it is open, prepared ones included. Such transactions hold its
-- lock, so everything in it is then committed.
--
-- A table is emptied by TRUNCATE when no subscription, retention or recovery policy needs any of it. That also happens
-- if they need so little that it can be carried on. If the next table in turn is not empty, the ring stands still, and
-- howdah.check_server() says for whom.
create or replace function howdah.maintain_topics(lock_epoch bigint default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set lock_timeout = '50ms'
as $$
declare
    v_slot howdah.topic_ring;
    v_open howdah.topic_ring;
    v_done text[] := '{}';
    v_left bigint;
    v_table text;
    v_reason text;
    v_due boolean;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    if howdah._has_old_snapshot() then
        raise exception using errcode = 'HD005', message = 'howdah.maintain_topics needs READ COMMITTED',
            hint = 'With an older snapshot it would not see who still needs a table.';
    end if;
    if not howdah._try_latch('ring') then
        return '';
    end if;
    perform howdah._check_cluster();
    perform howdah._sweep_lost();  -- before a table is emptied of what is to be journaled as lost
    perform howdah._settle_ring();
    select r.* into v_open from howdah.topic_ring r where r.state = 'open';
    v_due := v_open.opened_at < howdah.now() - (select e.topic_rotation_seconds * interval '1 second'
        from howdah.engine e);
    for v_slot in select r.* from howdah.topic_ring r where r.state in ('closing', 'closed') order by r.generation loop
        begin
            if v_slot.state = 'closing' then
                execute format('lock table only howdah.topic_msgs_%s, only howdah.topic_nonpersistent_%s in share mode',
                    v_slot.slot, v_slot.slot);
                update howdah.topic_ring r
                set state = 'closed', closed_xid = pg_snapshot_xmax(pg_current_snapshot()), closed_at = howdah.now()
                where r.slot = v_slot.slot
                returning r.* into v_slot;
                v_done := v_done || format('closed %s', v_slot.slot);
            end if;
        exception when lock_not_available then
            v_done := v_done || format('left %s, which is written to', v_slot.slot);
            continue;
        end;
        v_table := format('topic_msgs_%s', v_slot.slot);
        v_reason := null;
        begin
            -- A subscribing session holds this lock: messages published since then are needed, though nobody sees the
            -- subscription yet.
            if not howdah._try_latch('subscribing') then
                null;
            elsif not exists (select from howdah._still_needed(v_slot.slot) offset 10000) then
                execute format(
                    'lock table only howdah.topic_msgs_%s, only howdah.topic_nonpersistent_%s in access exclusive mode',
                    v_slot.slot, v_slot.slot);
                v_left := howdah._give_back_space(v_slot.slot);
                v_done := v_done || format('emptied %s, carried %s messages on', v_slot.slot, v_left);
            elsif v_due and v_slot.slot = (v_open.slot + 1) % 3 then
                v_reason := howdah._kept_for(v_slot.slot);
            end if;
        exception when lock_not_available then
            v_done := v_done || format('left %s, which is in use', v_slot.slot);
            v_reason := howdah._in_use(array[v_table, format('topic_nonpersistent_%s', v_slot.slot)]);
        end;
        perform howdah._report_blocked_maintenance('topics', v_table, v_reason);
    end loop;
    if v_due and howdah._slot_bytes(v_open.slot) > 0
       and (select r.state from howdah.topic_ring r where r.slot = (v_open.slot + 1) % 3) = 'empty' then
        update howdah.topic_ring r set state = 'closing' where r.slot = v_open.slot;
        update howdah.topic_ring r
        set state = 'open', generation = v_open.generation + 1, closed_xid = null, closed_at = null,
            opened_at = howdah.now()
        where r.slot = (v_open.slot + 1) % 3;
        perform setval('howdah.topic_generation'::regclass, v_open.generation + 1);
        v_done := v_done || format('opened %s', (v_open.slot + 1) % 3);
    end if;
    return array_to_string(v_done, '; ');
end
$$;
