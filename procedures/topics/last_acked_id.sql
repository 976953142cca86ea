-- howdah.last_acked_id(ack_id): the message id up to which a cursor has passed every message of its topic, like
-- ActiveMQ's LAST_ACKED_ID.
--
-- Returns  bigint; -1 if there is none.
-- Raises   HD025 a restored database (howdah.rebase_topics); HD037 on a standby.
-- Role     howdah_auditor howdah_admin
--
-- It is the id before the first message that is not read, or is leased and not acknowledged. ActiveMQ's queries for
-- pending messages (ID > LAST_ACKED_ID) so miss nothing. They also return messages already read, where a publisher
-- committed late or consumers acknowledged out of order.
--
-- The call reads all messages that the cursor is behind. howdah.list_subscriptions tells the lag from one message.
create or replace function howdah.last_acked_id(ack_id integer) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._check_all_here();
    perform howdah._check_cluster();
    return (select coalesce(coalesce(least(min(h.seq),
        (select min(k.seq) from howdah.acked k where k.ack_id = last_acked_id.ack_id and k.lease_id is not null)) - 1,
        max(pg_sequence_last_value(d.positions))) * 1000000 + max(d.id), -1)
    from howdah.acks a
    join howdah.subscriptions s on s.destination_id = a.subscription_id
    join howdah.destinations d on d.id = a.destination_id
    left join lateral howdah._messages_ahead(s, a, howdah._snapshot(), null, null) h on true
    where a.id = last_acked_id.ack_id);
end
$$;
