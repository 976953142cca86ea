-- howdah._selected_messages(p_destination_id, p_selector): the messages of a destination that a selector selects.
--
-- Returns  their ids (bigint[]); NULL if there is no selector.
-- Raises   HD023 the selector is invalid.
-- Role     internal
create or replace function howdah._selected_messages(p_destination_id integer, p_selector text) returns bigint[]
language plpgsql volatile
as $$
declare
    v_condition text := howdah._compile_selector(p_selector);
    v_ids bigint[];
begin
    if v_condition is not null then
        execute format('select coalesce(array_agg(m.message_id), ''{}'')
            from (
                select r.message_id, r.sent_at, r.rank, r.headers, r.correlation_id, r.message_type,
                    false as nonpersistent
                from howdah.msgs r where r.destination_id = $1
                union all
                select l.message_id, l.sent_at, l.rank, l.headers, l.correlation_id, l.message_type, false
                from howdah.leased l where l.destination_id = $1
                union all
                select n.message_id, n.sent_at, n.rank, n.headers, n.correlation_id, n.message_type, true
                from howdah.msgs_nonpersistent n where n.destination_id = $1 and n.boot = pg_postmaster_start_time()
                union all
                select p.message_id, p.sent_at, p.rank, p.headers, p.correlation_id, p.message_type, p.boot is not null
                from howdah.parked p where p.destination_id = $1
                    and (p.boot is null or p.boot = pg_postmaster_start_time())
            ) m where (%s) is true', v_condition)
        into v_ids using p_destination_id;
    end if;
    return v_ids;
end
$$;
