-- howdah._await_message(p_destination_id, p_rank, p_seq): wait for a message that another session has, a fifth of a
-- second at most.
--
-- Role     internal
--
-- Those who look for messages to begin attempts at hold them for a moment; a consumer for as long as it handles, and
-- nobody waits for that.
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
