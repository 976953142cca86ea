-- howdah._lose(p_destination, p_bodies, …): record best-effort messages that could not be stored.
--
-- Returns  the numbers (bigint[]) under which the journal has them, in the order of p_bodies.
-- Role     internal
--
-- With journal_level full, the journal says that they were sent as well, so that it adds up.
create or replace function howdah._lose(
    p_destination howdah.destinations, p_bodies bytea[], p_is_text boolean, p_content_type text, p_headers jsonb[],
    p_priorities integer[], p_correlation_ids text[], p_message_types text[], p_conversation_ids uuid[],
    p_reply_to text, p_reason text
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_ids bigint[] := array(select nextval(p_destination.positions) * 1000000 + p_destination.id
        from generate_series(1, cardinality(p_bodies)));
begin
    if p_destination.journal_level = 'full' then
        perform howdah._journal_sent(p_destination, v_ids, true, howdah.now(), null, null, null, p_priorities, true,
            howdah._digests(p_bodies, p_headers, p_is_text, p_content_type, p_correlation_ids, p_reply_to,
                p_message_types, p_conversation_ids), 0::smallint);
    end if;
    perform howdah._journal(p_destination, 'discarded', v_ids, true, null, 'NOT_STORED: ' || p_reason,
        p_reliability => 0::smallint);
    return v_ids;
end
$$;
