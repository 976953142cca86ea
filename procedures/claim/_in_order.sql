-- howdah._in_order(p_lanes): the lanes of a destination, each once, in the order in which messages are taken.
--
-- Returns  howdah.lanes[].
-- Role     internal
--
-- The first caller after a restart also removes the lost non-persistent messages. Every caller discards the messages of
-- senders that are gone, where the destination says so.
create or replace function howdah._in_order(p_lanes howdah.lanes[]) returns howdah.lanes[]
language plpgsql volatile
as $$
begin
    if exists (select from unnest(p_lanes) l where l.place < 2) then
        perform howdah._sweep_lost();
        if pg_sequence_last_value('howdah.senders_noted'::regclass) is not null then
            perform howdah._discard_of_gone(p_lanes[1].destination_id);
        end if;
    end if;
    return array(
        select o.lane from (
            select distinct on (l.rank, l.place) l.rank, l.place, l as lane
            from unnest(p_lanes) l order by l.rank, l.place, l.head is null, l.id
        ) o
        order by o.rank, o.place);
end
$$;
