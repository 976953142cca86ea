-- howdah._slot_bytes(p_slot): the size of a pair of topic tables.
--
-- Returns  bytes (bigint).
-- Role     internal
create or replace function howdah._slot_bytes(p_slot integer) returns bigint
language sql volatile
as $$
    select pg_relation_size(format('howdah.topic_msgs_%s', p_slot)::regclass)
        + pg_relation_size(format('howdah.topic_nonpersistent_%s', p_slot)::regclass)
$$;
