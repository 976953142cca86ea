-- howdah._claim(p_destination, p_want, p_now, p_remove): take up to p_want messages that nobody else is taking.
--
-- Returns  setof howdah.claimed, in order of priority, place and position. With p_remove the rows are deleted, else locked
--          to the end of the transaction.
-- Role     internal
--
-- Destinations that never held a parked or non-persistent message take the one-statement way. The others go priority
-- by priority through due parked, non-persistent and ready messages: order is promised within one delivery mode.
create or replace function howdah._claim(p_destination howdah.destinations, p_want integer, p_now timestamptz, p_remove boolean)
returns setof howdah.claimed
language plpgsql volatile
as $$
declare
    v_left integer := p_want;
    v_taken integer;
begin
    if not p_destination.nonpersistent_seen and not p_destination.parked_seen then
        return query select * from howdah._take_ready(p_destination.id, 0, 9, p_want, p_remove);
        return;
    end if;
    perform howdah._sweep_lost();
    for v_rank in 0..9 loop
        if p_destination.parked_seen then
            return query select * from howdah._take_parked(p_destination.id, v_rank, v_left, p_now, p_remove);
            get diagnostics v_taken = row_count;
            v_left := v_left - v_taken;
            exit when v_left <= 0;
        end if;
        if p_destination.nonpersistent_seen then
            return query select * from howdah._take_nonpersistent(p_destination.id, v_rank, v_left, p_remove);
            get diagnostics v_taken = row_count;
            v_left := v_left - v_taken;
            exit when v_left <= 0;
        end if;
        return query select * from howdah._take_ready(p_destination.id, v_rank, v_rank, v_left, p_remove);
        get diagnostics v_taken = row_count;
        v_left := v_left - v_taken;
        exit when v_left <= 0;
    end loop;
end
$$;

-- howdah._failures(p_destination_id, p_message_id, p_stage): failures recorded for a message since it came to its destination.
--
-- Returns  integer.
-- Role     internal
create or replace function howdah._failures(p_destination_id integer, p_message_id bigint, p_stage smallint) returns integer
language sql stable
as $$
    select count(*)::integer from howdah.poison_details p
    where p.destination_id = p_destination_id and p.message_id = p_message_id and p.stage = p_stage
$$;

-- howdah._count_failures(p_destination_id, p_message_ids): failures recorded for messages that the caller has claimed.
--
-- Returns  message_id, stage and the number of failures; only messages that have any.
-- Role     internal
--
-- VOLATILE, so that it looks with a snapshot taken after the claim: a failure is recorded before its message is let go, but
-- perhaps after the claiming statement began. A REPEATABLE READ transaction keeps its old snapshot and may miss some.
create or replace function howdah._count_failures(p_destination_id integer, p_message_ids bigint[])
returns table (message_id bigint, stage smallint, failures integer)
language plpgsql volatile
as $$
begin
    return query
    select p.message_id, p.stage, count(*)::integer from howdah.poison_details p
    where p.message_id = any (p_message_ids) and p.destination_id = p_destination_id
    group by p.message_id, p.stage;
end
$$;
