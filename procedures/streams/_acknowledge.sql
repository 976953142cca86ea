-- howdah._acknowledge(p_destination, p_ack, p_seqs, p_xids, p_nonpersistent, p_reason, p_event): record messages as
-- consumed, or discarded, out of order.
--
-- Raises   40001 as howdah._note_done.
-- Role     internal
create or replace function howdah._acknowledge(
    p_destination howdah.destinations, p_ack howdah.acks, p_seqs bigint[], p_xids xid8[], p_nonpersistent boolean[],
    p_reason text, p_event text default 'consumed'
) returns void
language plpgsql volatile
as $$
begin
    perform howdah._note_done(p_ack.id, p_seqs, p_xids);
    perform howdah._journal(p_destination, p_event, array_agg(u.seq * 1000000 + p_ack.destination_id),
        u.nonpersistent, null, p_reason, p_reliability => case p_event when 'discarded' then 0::smallint end)
    from unnest(p_seqs, p_nonpersistent) u(seq, nonpersistent)
    group by u.nonpersistent;
end
$$;
