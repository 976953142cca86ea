-- howdah._check_hardened(p_queue): refuse to receive from a hardened queue outside an attempt.
--
-- Raises   HD019 the queue is hardened and this is no attempt.
-- Role     internal
create or replace function howdah._check_hardened(p_queue howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if p_queue.backout_count = 'hardened' and not howdah._is_attempting() then
        raise exception using errcode = 'HD019',
            message = format('queue %s is hardened: an attempt is committed before its message is received',
                quote_literal(p_queue.name)),
            hint = 'Call howdah.begin_attempts(queue), COMMIT, and then howdah.receive_attempt(queue, attempt_id).';
    end if;
end
$$;
