-- howdah._receive_noting(p_queue, p_max_messages, p_hold, p_selector, p_consumer): as howdah.receive, where the caller
-- said howdah.commit_by_reliability: the commit waits as long as what was received needs.
--
-- Returns  howdah.message.
-- Role     internal
--
-- howdah.receive runs without the setting, so that it takes the fast path. howdah.commit_state stays, and with it what
-- else the call notes: a message that it disposes of makes the commit wait.
create or replace function howdah._receive_noting(
    p_queue text, p_max_messages integer, p_hold boolean, p_selector text, p_consumer bigint
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_word constant text := current_setting('howdah.commit_by_reliability');
begin
    perform howdah._change_commit(null, null), set_config('howdah.commit_by_reliability', '', true);
    return query
    select r.* from howdah.receive(p_queue, p_max_messages, p_hold, p_selector, p_consumer) r
    where howdah._note_received(r.reliability);
    perform set_config('howdah.commit_by_reliability', v_word, true);
end
$$;
