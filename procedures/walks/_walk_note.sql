-- howdah._walk_note(p_lane, p_walk, p_from, p_first, p_tail, p_cost): note how far a walk need not look again.
--
-- Role     internal
--
-- p_first: the first message met; NULL: none. p_tail: the last position given out before that look. What is noted lies before what was settled (howdah._settled) when it is looked once more. Not noted by a
-- transaction that deleted messages, for those are hidden from itself, and may come back; nor by one that wrote something else if the statistics of its session know of
-- deleted messages, be it of transactions before (a busy session passes its statistics on once a second).
-- In a queue of whose order a selector promises nothing the last 64 positions may be those of transactions about to commit. A selector gets hints of its own once a look has cost
-- more than 2 ms, and that look notes where it came to.
create or replace function howdah._walk_note(p_lane howdah.lanes, p_walk howdah.walk, p_from bigint, p_first bigint, p_tail bigint, p_cost interval) returns void
language plpgsql volatile
as $$
declare
    v_clean boolean := pg_current_xact_id_if_assigned() is null;
    v_dear boolean := p_cost > interval '300 us';
    v_numberless boolean;
    v_tail bigint;
    v_settled bigint;
    v_to bigint;
begin
    if p_lane.head is null and p_walk.selector is not null and p_cost > interval '2 ms' then
        perform howdah._add_selection(p_lane.destination_id, p_lane.rank, p_walk);
        p_lane := howdah._walked_lane(p_lane, p_walk);
    end if;
    if p_lane.head is null or p_first <= p_from + 16 or current_setting('transaction_isolation') not like 'read %'
       or not v_clean and (not current_setting('track_counts')::boolean or pg_stat_get_xact_tuples_deleted('howdah.msgs'::regclass) > 0) then
        return;
    end if;
    v_numberless := pg_current_xact_id_if_assigned() is null;  -- before the last position is read
    v_tail := (select howdah._hint(d.positions) from howdah.destinations d where d.id = p_lane.destination_id);
    v_settled := howdah._settled(p_lane.destination_id, v_dear);
    if v_settled is null then
        v_to := coalesce(p_first - 1, p_tail - 64);
    elsif v_settled > p_from + 15 then
        p_walk.share := null;
        v_to := least(v_settled, (select r.seq - 1 from howdah._walk_rows(p_lane, p_walk, p_from, v_settled, null, 1, null) r));
    end if;
    if v_to > p_from + 15 then
        perform howdah._advance(p_lane.head, v_to);
    end if;
    if v_tail > v_settled + 15 then
        perform howdah._mark(p_lane.destination_id, v_tail, v_settled, v_numberless, v_dear);
    end if;
end
$$;

-- howdah._settled(p_destination_id, p_ask): up to which position of a queue every message is seen that was ever sent, unless it was consumed.
--
-- Returns  bigint; 0: not known; NULL: a queue of whose order a selector promises nothing.
-- Role     internal
--
-- The queue's mark (howdah._mark) is a position, and a transaction number drawn after that was read as the last one given out. Once all transactions with lower
-- numbers have ended, nobody can commit a message up to it. p_ask: as howdah._are_over.
create or replace function howdah._settled(p_destination_id integer, p_ask boolean) returns bigint
language plpgsql volatile
as $$
declare
    v_walked boolean;
    v_positions regclass;
    v_tail bigint;
    v_mark bigint;
begin
    select howdah._is_walked(d), d.positions, howdah._hint(d.positions)
    into v_walked, v_positions, v_tail
    from howdah.destinations d where d.id = p_destination_id;
    if not v_walked then
        return null;
    end if;
    v_mark := howdah._hint(to_regclass('howdah.mark_' || p_destination_id));
    if v_mark >> 32 = 0 or not howdah._are_over(v_positions, v_mark, p_ask) then
        return 0;
    end if;
    return v_tail - ((v_tail - (v_mark >> 32)) & 2147483647);
end
$$;

-- howdah._are_over(p_positions, p_mark, p_ask): whether all transactions have ended whose numbers are lower than that of a mark.
--
-- Returns  boolean.
-- Role     internal
--
-- Numbers are compared as the server does, modulo 2^32. p_ask: it is enough that those of them have that read or drew positions of the queue, as the server's locks
-- tell in a millisecond or two: a sequence stays locked to the end of the transaction that uses it.
create or replace function howdah._are_over(p_positions regclass, p_mark bigint, p_ask boolean) returns boolean
language plpgsql volatile
as $$
begin
    return (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - p_mark) & 4294967295 < 2147483648
        or p_ask and not exists (
            select from pg_locks r
            join pg_locks x on x.virtualtransaction = r.virtualtransaction and x.locktype = 'transactionid' and x.mode = 'ExclusiveLock'
            where r.locktype = 'relation' and r.relation = p_positions and r.database = (select d.oid from pg_database d where d.datname = current_database())
              and (x.transactionid::text::bigint - p_mark) & 4294967295 >= 2147483648);
end
$$;

-- howdah._mark(p_destination_id, p_tail, p_settled, p_numberless, p_ask): set the mark of a queue anew, if what the last one waits for has come.
--
-- Role     internal
--
-- p_tail: the last position given out; who drew one up to it had a transaction number before. p_settled: howdah._settled; p_numberless: this transaction had no number
-- when p_tail was read, so the one that it gets is higher than those (the server tells no number that is next: a snapshot's xmax is what follows the last one that has *ended*).
-- The mark holds the position modulo 2^31 and the number modulo 2^32, in a sequence that howdah._note_special makes. The first mark has no position:
-- claims from when the queue was an ordinary one may be under way, and once they have ended the heads that they moved are forgotten.
create or replace function howdah._mark(p_destination_id integer, p_tail bigint, p_settled bigint, p_numberless boolean, p_ask boolean) returns void
language plpgsql volatile
as $$
declare
    v_sequence regclass := to_regclass('howdah.mark_' || p_destination_id);
    v_mark bigint := howdah._hint(v_sequence);
    v_next bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
begin
    if v_mark = 0 or p_settled = 0 and (v_mark - v_next) & 4294967295 between 1000000 and 2147483648 then
        p_tail := 0;  -- there was none, or it waits for a number that is still to come: a restored database's, or one of long ago
    elsif v_mark >> 32 = 0 and howdah._are_over((select d.positions from howdah.destinations d where d.id = p_destination_id), v_mark, p_ask) then
        perform setval(s.head, 0) from howdah.selections s where s.destination_id = p_destination_id and s.head is not null;
        perform setval(d.head, 0) from howdah.destinations d where d.id = p_destination_id;
        perform setval(l.head, 0) from howdah.lanes l where l.destination_id = p_destination_id and l.place = 2 and l.head is not null;
    elsif p_settled = 0 then
        return;
    end if;
    if p_numberless then
        v_next := pg_current_xact_id()::text::bigint;
    else
        v_next := v_next + coalesce((select max(o.distance) + 1
                                     from (select (l.transactionid::text::bigint - v_next) & 4294967295 as distance from pg_locks l
                                           where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock') o
                                     where o.distance < 2147483648), 0);
    end if;
    p_tail := p_tail - (p_tail > 0 and p_tail & 2147483647 = 0)::integer;  -- no position is the first mark's
    perform setval(v_sequence, (p_tail & 2147483647) << 32 | (v_next & 4294967295));
end
$$;
