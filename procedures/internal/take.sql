-- howdah._take_ready(p_destination_id, p_first, p_last, p_want, p_remove): take ready messages of a range of ranks.
--
-- Returns  setof howdah.claimed, by rank and position.
-- Role     internal
--
-- The rows are locked by the same statement that deletes them, so a TID scan is safe and cannot be planned wrongly.
create or replace function howdah._take_ready(
    p_destination_id integer, p_first integer, p_last integer, p_want integer, p_remove boolean
) returns setof howdah.claimed
language plpgsql volatile
as $$
begin
    if p_remove then
        return query
        with taken as (
            delete from howdah.msgs m where m.ctid = any (array(
                select c.ctid from howdah.msgs c
                where c.destination_id = p_destination_id and c.rank between p_first and p_last
                order by c.rank, c.seq limit p_want for update skip locked))
            returning m.*
        )
        select t.*, 'msgs', false
        from taken t order by t.rank, t.seq;
    else
        return query
        select m.*, 'msgs', false
        from howdah.msgs m
        where m.destination_id = p_destination_id and m.rank between p_first and p_last
        order by m.rank, m.seq limit p_want for update skip locked;
    end if;
end
$$;

-- howdah._take_nonpersistent(p_destination_id, p_rank, p_want, p_remove): take non-persistent messages of one rank.
--
-- Returns  setof howdah.claimed, by position.
-- Role     internal
create or replace function howdah._take_nonpersistent(p_destination_id integer, p_rank integer, p_want integer, p_remove boolean)
returns setof howdah.claimed
language plpgsql volatile
as $$
declare
    v_tids tid[] := array(
        select c.ctid from howdah.msgs_nonpersistent c
        where c.destination_id = p_destination_id and c.rank = p_rank and c.boot = pg_postmaster_start_time()
        order by c.seq limit p_want for update skip locked);
begin
    return query
    select n.seq, n.message_id, n.sent_at, n.expires_at, n.dead_at, n.destination_id, n.origin_id, n.rank, n.stage,
        n.is_text, n.content_type, n.body, n.headers, n.correlation_id, n.reply_to, n.message_type, n.conversation_id,
        n.dead_reason,
        'msgs_nonpersistent', true
    from howdah.msgs_nonpersistent n where n.ctid = any (v_tids) order by n.seq;
    if p_remove then
        delete from howdah.msgs_nonpersistent n where n.ctid = any (v_tids);
    end if;
end
$$;

-- howdah._take_parked(p_destination_id, p_rank, p_want, p_now, p_remove): take parked messages of one rank that are due.
--
-- Returns  setof howdah.claimed, by due time.
-- Role     internal
create or replace function howdah._take_parked(
    p_destination_id integer, p_rank integer, p_want integer, p_now timestamptz, p_remove boolean
) returns setof howdah.claimed
language plpgsql volatile
as $$
declare
    v_tids tid[] := array(
        select c.ctid from howdah.parked c
        where c.destination_id = p_destination_id and c.rank = p_rank and c.due_at <= p_now
          and (c.boot is null or c.boot = pg_postmaster_start_time())
        order by c.due_at, c.seq limit p_want for update skip locked);
begin
    return query
    select p.seq, p.message_id, p.sent_at, p.expires_at, p.dead_at, p.destination_id, p.origin_id, p.rank, p.stage,
        p.is_text, p.content_type, p.body, p.headers, p.correlation_id, p.reply_to, p.message_type, p.conversation_id,
        p.dead_reason,
        'parked', p.boot is not null
    from howdah.parked p where p.ctid = any (v_tids) order by p.due_at, p.seq;
    if p_remove then
        delete from howdah.parked p where p.ctid = any (v_tids);
    end if;
end
$$;
