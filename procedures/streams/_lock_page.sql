-- howdah._lock_page(p_subscription, p_ack, p_name, p_slots, p_after, p_after_seq, p_to, p_upto, p_size, p_want): lock
-- messages of one page of a topic.
--
-- Returns  one row. It has the messages taken, their number, whether that is as many as wanted, and their positions,
--          transactions and modes. It also has the page's number of rows, and where the page ends. It also
--          says whether others have a message in hand, and how many before the first such one are done or unwanted.
-- Role     internal
--
-- A shared subscription takes an advisory lock on each message until the transaction ends. Two messages may share a
-- lock. The second is then skipped until the first one's transaction ends.
create or replace function howdah._lock_page(
    p_subscription howdah.subscriptions, p_ack howdah.acks, p_name text, p_slots integer[], p_after xid8,
    p_after_seq bigint, p_to xid8, p_upto pg_snapshot, p_size integer, p_want integer,
    out taken bigint, out filled boolean, out seqs bigint[], out xids xid8[], out modes boolean[],
    out messages howdah.message[], out seen bigint, out last_xid xid8, out last_seq bigint, out passed bigint,
    out blocked boolean
) returns record
language plpgsql volatile
as $$
declare
    v_secret constant bigint := howdah._lock_key('published', p_ack.id::text);
    v_topic text := howdah._destination_name(p_ack.destination_id);
begin
    with page as materialized (
        select p.*, row_number() over () as n
        from howdah._page(p_subscription, p_ack, p_slots, p_after, p_after_seq, p_to, p_upto, p_size) p
    ), chosen as materialized (
        select p.* from page p
        where p.wanted and not p.done
          and (not p_subscription.shared or pg_try_advisory_xact_lock(hashint8extended(p.seq, v_secret)))
        limit p_want
    ), others as materialized (
        select min(p.n) as n from page p
        where p.wanted and not p.done and p.n not in (select u.n from chosen u)
    )
    select t.taken, t.taken = p_want, t.seqs, t.xids, t.modes, t.messages,
        (select count(*) from page), (select p.xid from page p where p.n = p_size),
        (select p.seq from page p where p.n = p_size),
        (select count(*) from page p where (p.done or not p.wanted)
            and (p.n < (select o.n from others o)) is not false),
        (select o.n is not null from others o)
    into taken, filled, seqs, xids, modes, messages, seen, last_xid, last_seq, passed, blocked
    from (
        select count(*) as taken, array_agg(u.seq) as seqs, array_agg(u.xid) as xids,
            array_agg(u.nonpersistent) as modes,
            array_agg(row(u.message_id, p_name,
                CONTENT_OF u,
                case when u.nonpersistent then 'non-persistent' else 'persistent' end, u.sent_at, u.expires_at, 1,
                false, u.seq, 0, v_topic, null, null,
                howdah._level_name(u.reliability, u.nonpersistent))::howdah.message) as messages
        from chosen u
    ) t;
end
$$;
