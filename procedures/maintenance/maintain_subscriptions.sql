-- howdah.maintain_subscriptions(lock_epoch): look after subscriptions that fell behind or have ended, and after old
-- cursor steps.
--
-- Returns  what was done, for a log (text); empty if there was nothing to do.
-- Raises   HD002 no room for the advisory queue; HD005 the transaction is not READ COMMITTED; HD010 called from a
--          maintenance command; HD014 the maintenance lock is not held with this epoch; HD024 a subscription to be
--          dropped is being read after all; HD045 the master of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- A durable subscription meets backlog_action when it is further behind than its topic's backlog_limit or
-- backlog_age_ms allow. Administrators are told once when it reaches four fifths of that. A subscription that is not
-- durable ends when no consumer was heard of for a minute.
--
-- It waits for nobody who makes or ends a subscription: what concerns the same topic is left for the next time.
create or replace function howdah.maintain_subscriptions(lock_epoch bigint default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_row record;
    v_ack howdah.acks;
    v_done text[] := '{}';
begin
    perform howdah._refuse_maintenance();
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    if howdah._has_old_snapshot() then
        raise exception using errcode = 'HD005', message = 'howdah.maintain_subscriptions needs READ COMMITTED',
            hint = 'With an older snapshot it would not see where cursors stand.';
    end if;
    if not howdah._try_latch('subscriptions') then
        return '';
    end if;
    for v_row in
        select d as destination, s.durable, s as subscription, howdah._silent_ms(s.alive) as silent
        from howdah.subscriptions s join howdah.destinations d on d.id = s.destination_id
        where d.dropped_at is null order by d.id
    loop
        if not v_row.durable and v_row.silent > 60000 then
            -- A session that works on what it holds is known by its open consumer. The lock keeps it out until the
            -- transaction ends. So it is looked for before the lock, and once more after it.
            if not howdah._has_leased((v_row.destination).id)
               and not howdah._has_consumer((v_row.destination).id)
               and howdah._try_topics(array(select distinct a.destination_id from howdah.acks a
                   where a.subscription_id = (v_row.destination).id))
               and pg_try_advisory_xact_lock(howdah._lock_key('subscription', (v_row.destination).id::text))
               and not howdah._has_leased((v_row.destination).id)
               and not howdah._has_consumer((v_row.destination).id) then
                perform howdah._unsubscribe(v_row.destination, 'its subscriber went away');
                v_done := v_done || format('ended %s', (v_row.destination).name);
            end if;
            continue;
        end if;
        for v_ack in select a.* from howdah.acks a where a.subscription_id = (v_row.destination).id loop
            if (v_row.subscription).shared then
                perform howdah._advance_cursor(v_row.subscription, v_ack);
            end if;
            delete from howdah.ack_cursors c where c.ack_id = v_ack.id and c.n < (howdah._cursor(v_ack.id)).n - 8;
        end loop;
        if v_row.durable then
            v_done := v_done || howdah._bound_backlog(v_row.destination, v_row.subscription);
        end if;
    end loop;
    update howdah.topics o set refused_for = null
    where o.destination_id = any (array(
        select t.destination_id from howdah.topics t
        where t.refused_for is not null
          and not exists (select from howdah.destinations d
              join howdah.acks a on a.subscription_id = d.id and a.destination_id = t.destination_id
              cross join lateral howdah._lag(a) l
              where d.dropped_at is null and d.name = t.refused_for
                and howdah._backlog_share(t, l.behind, l.oldest) > 1)
        for no key update of t skip locked));
    return array_to_string(v_done, '; ');
end
$$;
