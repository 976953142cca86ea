-- howdah._refuse_sending(p_destination): refuse to send to a destination to which sending is paused.
--
-- Raises   HD008 it is paused; HD040 the engine is paused, quiesced or stopped.
-- Role     internal
--
-- While the engine is being quiesced, a transaction that began to write before may still send, and so end its work. In
-- a database restored into another cluster, the engine's number may exceed all transaction ids. Then no such
-- transaction may send.
create or replace function howdah._refuse_sending(p_destination howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if not exists (select from howdah.engine e
                   where e.state = 'quiesced' and pg_current_xact_id_if_assigned()::text::bigint < e.state_xid
                     and e.state_xid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint) then
        perform howdah._check_engine();
    end if;
    if p_destination.own_sending_paused then
        raise exception using errcode = 'HD008', message = format('sending to queue %s is paused',
            quote_literal(p_destination.name)),
            hint = 'An administrator resumes it with howdah.resume(queue).';
    end if;
end
$$;
