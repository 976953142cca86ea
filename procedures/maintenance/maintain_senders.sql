-- howdah.maintain_senders(lock_epoch): discard what goes with its sender, in destinations with discard_with_sender, and
-- forget whose messages those were that are gone.
--
-- Returns  how many messages were discarded (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- A receive does the former by itself. Forgetting reads all records, so it pauses for fifty times as long as it took.
-- lock_epoch NULL: run by hand.
create or replace function howdah.maintain_senders(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_count bigint;
    v_begun timestamptz;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    if pg_sequence_last_value('howdah.senders_noted'::regclass) is null then
        return 0;
    end if;
    select coalesce(sum(howdah._discard_of_gone(d.id)), 0) into v_count
    from howdah.destinations d where d.discard_with_sender and d.dropped_at is null;
    v_begun := clock_timestamp();
    if howdah._pace(v_begun) < pg_sequence_last_value('howdah.senders_noted'::regclass) then
        return v_count;
    end if;
    delete from howdah.sent_by b
    where not exists (select from howdah.msgs_nonpersistent n where n.destination_id = b.destination_id
          and n.rank = b.rank and n.seq = b.message_id / 1000000 and n.message_id = b.message_id)
      and not exists (select from howdah.parked p where p.destination_id = b.destination_id
          and p.message_id = b.message_id)
      -- for N in 0, 1, 2:
      and not exists (select from howdah.topic_nonpersistent_N t where t.destination_id = b.destination_id
          and t.xid = b.xid and t.seq = b.message_id / 1000000)
      -- end for
      ;
    delete from howdah.sender_signs s
    where s.ctid = any (array(select o.ctid from howdah.sender_signs o
        where o.seen_at < howdah.now() - interval '1 hour' for update skip locked));
    perform setval('howdah.senders_noted'::regclass,
        howdah._pace(clock_timestamp() + 50 * (clock_timestamp() - v_begun)));
    return v_count;
end
$$;
