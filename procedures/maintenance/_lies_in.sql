-- howdah._lies_in(p_destination_id, p_message_id): whether a queue has a message now, in whatever state.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._lies_in(p_destination_id integer, p_message_id bigint) returns boolean
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
begin
    return exists (
            select from generate_series(0, 9) r(rank)
            cross join unnest(howdah._positions(p_destination_id, p_message_id)) s(seq)
            cross join lateral (
                select from howdah.msgs m
                where m.destination_id = p_destination_id and m.rank = r.rank and m.seq = s.seq
                  and m.message_id = p_message_id
                union all
                select from howdah.msgs_nonpersistent n
                where n.destination_id = p_destination_id and n.rank = r.rank and n.seq = s.seq
                  and n.message_id = p_message_id and n.boot = pg_postmaster_start_time()
                offset 0) k)
        or exists (select from howdah.parked p
            where p.destination_id = p_destination_id and p.message_id = p_message_id)
        or exists (select from howdah.leased e
            where e.destination_id = p_destination_id and e.message_id = p_message_id);
end
$$;
