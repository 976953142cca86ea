-- howdah.handled_as(listener): record that a message received by the listener was handled, and count its failures from
-- 0 again.
--
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- Call it in the transaction that received the message, just before COMMIT, with which it takes effect. Nothing is
-- locked, and nothing is written if the counter is 0.
--
-- A stopped listener's counter stays, so that it can be seen. A listener that was dropped meanwhile raises no error, so
-- that what was in hand can be finished.
create or replace function howdah.handled_as(listener text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_listener record;
begin
    select l.id, l.total_failures, howdah._destination_name(l.destination_id) as queue into v_listener
    from howdah.listeners l
    where l.name = listener and l.status = 'running' and l.failures > 0 and howdah._listener_failures(l) > 0;
    if found then
        perform howdah._destination(v_listener.queue, 'receive');
        insert into howdah.listener_marks (listener_id, total_failures)
        values (v_listener.id, v_listener.total_failures);
    end if;
end
$$;
