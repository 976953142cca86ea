-- howdah._named_keys(p_destination_id, p_message_ids): the keys under which named messages may lie ready in a
-- destination.
--
-- Returns  one row per message, priority and position (howdah._positions), by message.
-- Role     internal
create or replace function howdah._named_keys(p_destination_id integer, p_message_ids bigint[])
returns table (message_id bigint, rank integer, seq bigint)
language sql stable
as $$
    select i.id, r.rank, s.seq
    from (select distinct n.id from unnest(p_message_ids) n(id) where n.id is not null) i
    cross join lateral unnest(howdah._positions(p_destination_id, i.id)) s(seq)
    cross join generate_series(0, 9) r(rank)
    order by i.id
$$;
