-- pgmq._consume(p_destination_id, p_rank, p_seqs, p_locked, p_parked, p_journaled, p_now): take messages for good.
--
-- Returns  the messages as they were.
-- Role     internal
--
-- The arguments are those of pgmq._hide.
create or replace function pgmq._consume(
    p_destination_id integer, p_rank smallint, p_seqs bigint[], p_locked boolean, p_parked bigint[],
    p_journaled boolean, p_now timestamptz
) returns setof pgmq.message_record
language plpgsql volatile
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
    return query
    with ready as (
        delete from howdah.msgs m
        where m.destination_id = p_destination_id and m.rank = p_rank and m.seq = any (p_seqs)
          and (p_locked or m.xmax = 0) and (m.expires_at > p_now) is not false
        returning m.*
    ), again as (
        delete from howdah.parked p
        where p.ctid = any (howdah._parked_rows(p_destination_id, p_parked))
          and (p.expires_at > p_now) is not false
        returning p.*
    ), gone as materialized (
        select r.seq, r.message_id, 0 as reads, r.sent_at, null::timestamptz as last_read_at, r.sent_at as due_at,
            r.content_type, r.body, r.headers, false as nonpersistent
        from ready r
        union all
        select a.seq, a.message_id, coalesce(a.reads, 0), a.sent_at, a.last_read_at, a.due_at, a.content_type, a.body,
            a.headers, a.boot is not null
        from again a
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, oldest_sent_at)
        select p_now, p_destination_id, g.nonpersistent, 'consumed', array_agg(g.message_id), min(g.sent_at)
        from gone g where p_journaled group by g.nonpersistent
    )
    select pgmq._number(p_destination_id, g.message_id), g.reads, g.sent_at, g.last_read_at, g.due_at,
        pgmq._json(g.content_type, coalesce(g.body, howdah._take_body(g.message_id))), pgmq._shown_headers(g.headers)
    from gone g order by g.seq;
end
$$;
