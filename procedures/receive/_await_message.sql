-- howdah._await_message(p_destination_id, p_rank, p_seq): wait up to 200 ms for a message that another session holds.
--
-- Role     internal
--
-- A session that looks for messages to begin attempts at holds them for a moment. A consumer holds them as long as it
-- handles them, and nobody waits for that.
create or replace function howdah._await_message(p_destination_id integer, p_rank smallint, p_seq bigint) returns void
language plpgsql volatile set lock_timeout = '200ms'
as $$
begin
    perform from howdah.msgs m where m.destination_id = p_destination_id and m.rank = p_rank and m.seq = p_seq
    for update;
exception when lock_not_available then
    null;
end
$$;
