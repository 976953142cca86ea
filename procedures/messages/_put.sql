-- howdah._put(p_message, p_nonpersistent, p_notify): store a message ready for delivery.
--
-- Role     internal
create or replace function howdah._put(p_message howdah.msgs, p_nonpersistent boolean, p_notify boolean) returns void
language plpgsql volatile
as $$
begin
    if p_nonpersistent then
        perform howdah._open_lane(p_message.destination_id, p_message.rank, 1);
        insert into howdah.msgs_nonpersistent select (p_message).*, pg_postmaster_start_time();
    else
        perform howdah._open_lane(p_message.destination_id, p_message.rank, 2);
        insert into howdah.msgs select (p_message).*;
    end if;
    if p_message.message_id <> p_message.seq * 1000000 + p_message.destination_id then
        insert into howdah.moved (message_id, seq, destination_id, rank)
        values (p_message.message_id, p_message.seq, p_message.destination_id, p_message.rank)
        on conflict on constraint pk_moved do nothing;
    end if;
    if p_notify then
        perform howdah._wake(d.id, d.waiting) from howdah.destinations d where d.id = p_message.destination_id;
    end if;
end
$$;

-- howdah._park(p_message, p_nonpersistent, p_due_at, p_reason): store a message that waits for a time.
--
-- Role     internal
create or replace function howdah._park(p_message howdah.msgs, p_nonpersistent boolean, p_due_at timestamptz, p_reason text)
returns void
language plpgsql volatile
as $$
begin
    perform howdah._open_lane(p_message.destination_id, p_message.rank, 0);
    insert into howdah.parked
    select (p_message).*, p_due_at, p_reason, case when p_nonpersistent then pg_postmaster_start_time() end, null,
        case when p_reason in ('redelivery', 'blocked', 'quarantine') and d.message_groups <> 'none'
            then howdah._group(p_message.headers, p_message.conversation_id) end
    from howdah.destinations d where d.id = p_message.destination_id;
end
$$;

-- howdah._positions(p_destination_id, p_message_id): where in a destination a message may lie ready.
--
-- Returns  positions (bigint[]): that of its number, if it was sent there, and those that it was moved to.
-- Role     internal
create or replace function howdah._positions(p_destination_id integer, p_message_id bigint) returns bigint[]
language plpgsql stable set enable_seqscan = off
as $$
begin
    return array(
        select p_message_id / 1000000 where p_message_id % 1000000 = p_destination_id
        union
        select o.seq from howdah.moved o where o.message_id = p_message_id and o.destination_id = p_destination_id);
end
$$;

-- howdah._forget_moved(): delete notes of where moved messages lay that lie there no more.
--
-- Role     internal
--
-- It looks at 10,000 a call, going on where the last one ended. What a transaction has in hand is still seen.
create or replace function howdah._forget_moved() returns void
language plpgsql volatile set enable_seqscan = off
as $$
declare
    v_from bigint := howdah._hint('howdah.moved_walk');
    v_until bigint;
begin
    v_until := (select max(s.message_id) from (
        select o.message_id from howdah.moved o where o.message_id > v_from order by o.message_id limit 10000) s);
    delete from howdah.moved o
    where o.message_id > v_from and o.message_id <= v_until
      and not exists (select from howdah.msgs m
                      where m.destination_id = o.destination_id and m.rank = o.rank and m.seq = o.seq and m.message_id = o.message_id)
      and not exists (select from howdah.msgs_nonpersistent n
                      where n.destination_id = o.destination_id and n.rank = o.rank and n.seq = o.seq and n.message_id = o.message_id);
    perform setval('howdah.moved_walk', coalesce(v_until, 0));
end
$$;
