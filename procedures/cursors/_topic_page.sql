-- howdah._topic_page(p_slots, p_topic, p_after, p_after_seq, p_to, p_upto, p_limit): messages of a topic in reading
-- order, from a range of transactions.
--
-- Returns  up to p_limit rows of the tables p_slots. They belong to transactions up to p_to, are visible in p_upto, and
--          lie after the message (p_after, p_after_seq).
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- Each table has a statement of its own. A statement locks every table that it names until the transaction ends, and a
-- locked table cannot be emptied. Usually the open table has all the messages.
create or replace function howdah._topic_page(
    p_slots integer[], p_topic integer, p_after xid8, p_after_seq bigint, p_to xid8, p_upto pg_snapshot, p_limit integer
) returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint,
    is_text boolean, content_type text, body bytea, headers jsonb, correlation_id text, reply_to text,
    message_type text, conversation_id uuid, client_id text, reliability smallint, nonpersistent boolean
)
language plpgsql volatile rows 100
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
    set jit = off
as $$
begin
    case
        -- for N in 0, 1, 2:
        when p_slots = array[N] then
            return query select * from howdah._rows_N(p_topic, p_after, p_after_seq, p_to, null, p_upto, null, p_limit);
        -- end for
        else
            return query
            (select * from howdah._rows_0(p_topic, p_after, p_after_seq, p_to, null, p_upto, null,
                case when 0 = any (p_slots) then p_limit else 0 end))
            union all
            (select * from howdah._rows_1(p_topic, p_after, p_after_seq, p_to, null, p_upto, null,
                case when 1 = any (p_slots) then p_limit else 0 end))
            union all
            (select * from howdah._rows_2(p_topic, p_after, p_after_seq, p_to, null, p_upto, null,
                case when 2 = any (p_slots) then p_limit else 0 end))
            order by 1, 2 limit p_limit;
    end case;
end
$$;
