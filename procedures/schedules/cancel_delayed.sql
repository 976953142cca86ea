-- howdah.cancel_delayed(queue, message_ids): discard messages that were sent with a delay and are not yet due, all or
-- none.
--
-- Returns  the number of messages discarded (bigint).
-- Raises   HD001 no such queue; HD005 message_ids is NULL; HD010 not allowed; HD013 a message is not there, is already
--          due, or was not sent with a delay.
-- Role     howdah_producer howdah_admin
--
-- A role that may send there may cancel by message id. The journal records the messages as discarded, with the reason
-- cancelled.
create or replace function howdah.cancel_delayed(queue text, message_ids bigint[]) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'send');
    v_wanted bigint := (select count(distinct i.id) from unnest(message_ids) i(id));
    v_done bigint;
begin
    if message_ids is null then
        raise exception using errcode = 'HD005', message = 'message_ids cannot be NULL',
            hint = 'See howdah.list_delayed(queue).';
    end if;
    v_done := howdah._discard_delayed(v_destination, array(
        select p.ctid from howdah.parked p
        where p.ctid = any (howdah._parked_rows(v_destination.id, message_ids)) and p.due_at > howdah.now()
          and p.parked_reason = 'delay'
        order by p.message_id for update skip locked));
    if v_done < v_wanted or exists (select from unnest(message_ids) i(id) where i.id is null) then
        raise exception using errcode = 'HD013',
            message = format('not all of these messages wait for their time in queue %s', quote_literal(queue)),
            hint = 'See howdah.list_delayed(queue). Messages that are due can no longer be cancelled.';
    end if;
    return v_done;
end
$$;
