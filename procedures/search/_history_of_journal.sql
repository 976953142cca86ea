-- howdah._history_of_journal(p_destination_id, p_message_id, p_from, p_all): what the journal has of one message.
--
-- Returns  its events in one destination or into it. Then one row without a time has the number of rows looked at, and
--          whether that was all.
-- Role     internal
--
-- The journal has no index by message, because that would cost each delivery. The call reads at most 200,000 rows:
-- those from p_from on, and with p_all the earlier ones after that.
create or replace function howdah._history_of_journal(
    p_destination_id integer, p_message_id bigint, p_from timestamptz, p_all boolean
)
returns table (
    at timestamptz, event text, destination_id integer, other_destination_id integer, reason text, looked bigint,
    complete boolean
)
language plpgsql stable
as $$
declare
    v_most constant bigint := 200000;
begin
    return query
    with looked as materialized (
        select j.at, j.event, j.destination_id, j.other_destination_id, j.reason,
            j.message_ids @> array[p_message_id] or j.last_id is not null
                and p_message_id between j.message_ids[1] and j.last_id
                and p_message_id % 1000000 = j.message_ids[1] % 1000000 as hit
        from (
            (select l.* from howdah.journal l where l.at >= p_from limit v_most)
            union all
            (select b.* from howdah.journal b where p_all and b.at < p_from limit v_most)
        ) j limit v_most
    )
    select l.at, l.event, l.destination_id, l.other_destination_id, l.reason, null::bigint, null::boolean
    from looked l where l.hit and p_destination_id in (l.destination_id, l.other_destination_id)
    union all
    select null, null, null, null, null, count(*), count(*) < v_most from looked;
end
$$;
