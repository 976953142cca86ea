-- howdah.handled_as(listener): a message that the listener received was handled: set its counter of failures to 0.
--
-- Raises   HD001 no such queue; HD010 not allowed; HD020 no such listener.
-- Role     howdah_consumer howdah_admin
--
-- Call it in the transaction that received the message, just before COMMIT: until then it keeps failures of other sessions
-- from being recorded. Nothing is written or locked if the counter is 0. A stopped listener's counter stays, to be seen.
create or replace function howdah.handled_as(listener text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_counting boolean;
begin
    select l.failures > 0 and l.status = 'running' into v_counting from howdah.listeners l where l.name = listener;
    if v_counting is distinct from false then
        perform howdah._listener(listener, 'receive');
        update howdah.listeners l set failures = 0 where l.name = listener and l.failures > 0 and l.status = 'running';
    end if;
end
$$;
