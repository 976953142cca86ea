-- howdah.pause(queue, sending, receiving): pause sending to a queue, receiving from it, or both (the default).
--
-- Raises   HD001 no such queue; HD010 not allowed; HD012 it belongs to the engine; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- Transactions that have already sent or received are not disturbed. false leaves that side as it is. The act is
-- in howdah.list_acts, with the setting howdah.reason.
create or replace function howdah.pause(
    queue text, sending boolean default true, receiving boolean default true
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._own_queue(queue);
    v_before jsonb := howdah._properties(v_destination.kind, queue);
begin
    update howdah.destinations d
    set own_sending_paused = d.own_sending_paused or coalesce(sending, false),
        own_receiving_paused = d.own_receiving_paused or coalesce(receiving, false),
        sending_paused = d.sending_paused or coalesce(sending, false),
        receiving_paused = d.receiving_paused or coalesce(receiving, false)
    where d.id = v_destination.id;
    if howdah._properties(v_destination.kind, queue) is distinct from v_before then
        perform howdah._record_change(v_destination.kind, queue, 'altered', v_before,
            howdah._properties(v_destination.kind, queue));
        perform howdah._record_act('paused', v_destination.id, '{}', null, howdah._why(
            case when receiving is not true then 'sending' when sending is not true then 'receiving' end));
    end if;
end
$$;
