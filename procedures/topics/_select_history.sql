-- howdah._select_history(p_topic_id, p_selector_sql, p_upto): the stored messages of a topic that a compiled selector
-- selects.
--
-- Returns  their positions (bigint[]); NULL if there is no selector.
-- Role     internal
create or replace function howdah._select_history(
    p_topic_id integer, p_selector_sql text, p_upto pg_snapshot
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_seqs bigint[];
begin
    if p_selector_sql is not null then
        execute format('select coalesce(array_agg(m.seq), ''{}'')
            from (select h.*, h.seq * 1000000 + h.destination_id as message_id
                from howdah._history($1, null, $2) h) m where (%s) is true', p_selector_sql)
        into v_seqs using p_topic_id, p_upto;
    end if;
    return v_seqs;
end
$$;
