-- howdah._keep_outcome(p_destination, p_message, p_state): keep that a message failed or expired, if its queue keeps
-- results.
--
-- Role     internal
--
-- The failure that decides is recorded only after its outcome is known, so howdah.result looks for the error itself.
-- Nobody is woken: see howdah._apply_limit_policy. A waiting session looks again within a quarter of a second.
create or replace function howdah._keep_outcome(
    p_destination howdah.destinations, p_message howdah.msgs, p_state text
) returns void
language plpgsql volatile
as $$
begin
    if p_destination.keep_results_ms is null then
        return;
    end if;
    insert into howdah.results as r (destination_id, message_id, state, stage, finished_at, until, body)
    values (p_destination.id, p_message.message_id, p_state, p_message.stage, howdah.now(),
        howdah.now() + p_destination.keep_results_ms * interval '1 millisecond', howdah._result_body(p_message))
    on conflict on constraint pk_results do update set state = excluded.state, stage = excluded.stage,
        finished_at = excluded.finished_at, until = excluded.until, body = excluded.body, value = null;
end
$$;
