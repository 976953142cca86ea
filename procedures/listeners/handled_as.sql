-- howdah.handled_as(listener): a message that the listener received was handled: set its counter of failures to 0.
--
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- Call it in the transaction that received the message, just before COMMIT: until then it keeps failures of other sessions
-- from being recorded. Nothing is written or locked if the counter is 0. A stopped listener's counter stays, to be seen.
-- A listener that was dropped meanwhile is no error, so that what was in hand can be finished.
create or replace function howdah.handled_as(listener text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_listener record;
begin
    select l.id, howdah._name(l.destination_id) as queue into v_listener
    from howdah.listeners l where l.name = listener and l.failures > 0 and l.status = 'running';
    if found then
        perform howdah._destination(v_listener.queue, 'receive');
        update howdah.listeners l set failures = 0 where l.id = v_listener.id and l.failures > 0 and l.status = 'running';
    end if;
end
$$;
