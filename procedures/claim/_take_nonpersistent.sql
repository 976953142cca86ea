-- howdah._take_nonpersistent(p_destination_id, p_name, p_tids, p_now, p_journaled): receive the non-persistent messages
-- that the caller has locked, where nothing ever failed.
--
-- Returns  howdah.message of each, in order; expired messages are disposed of instead.
-- Role     internal
create or replace function howdah._take_nonpersistent(
    p_destination_id integer, p_name text, p_tids tid[], p_now timestamptz, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
begin
    return query
    with taken as materialized (
        delete from howdah.msgs_nonpersistent n where n.ctid = any (p_tids)
        returning n.*
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, oldest_sent_at)
        select p_now, p_destination_id, true, 'consumed', array_agg(c.message_id order by c.seq), min(c.sent_at)
        from taken c where (c.expires_at > p_now) is not false and p_journaled
        having count(*) > 0
    )
    select c.message_id, p_name,
        CONTENT_OF c ELSE howdah._take_body(c.message_id),
        'non-persistent', c.sent_at, c.expires_at, 1, false, c.seq,
        ORIGIN_OF c,
        howdah._level_name(c.reliability, true)
    from (select t.* from taken t order by t.seq offset 0) c  -- disposed of in order
    where (c.expires_at > p_now) is not false
       or howdah._dispose(p_destination_id, howdah._as_ready(row(c.*)::howdah.msgs_nonpersistent), true, null,
           p_now);
end
$$;
