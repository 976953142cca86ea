-- howdah._lease_noting(p_queue, p_max_messages, …): as howdah.lease, where the caller said
-- howdah.commit_by_reliability: the commit waits as long as what was leased and acknowledged needs.
--
-- Returns  the columns of howdah.lease.
-- Role     internal
--
-- It does what howdah._receive_noting does.
create or replace function howdah._lease_noting(
    p_queue text, p_max_messages integer, p_duration interval, p_selector text, p_consumer bigint, p_acknowledge bigint
) returns table (
    LEASED_MESSAGE
)
language plpgsql volatile
as $$
declare
    v_word constant text := current_setting('howdah.commit_by_reliability');
begin
    if p_acknowledge is not null then
        perform howdah._note_acked(p_queue, p_acknowledge, null);
    end if;
    perform howdah._change_commit(null, null), set_config('howdah.commit_by_reliability', '', true);
    return query
    select l.* from howdah.lease(p_queue, p_max_messages, p_duration, p_selector, p_consumer, p_acknowledge) l
    where howdah._note_received(l.reliability);
    perform set_config('howdah.commit_by_reliability', v_word, true);
end
$$;
