-- howdah._kept_weeks(): the partitions of kept_messages, each with the Monday on which its week begins.
--
-- Returns  rows; week is NULL for the default partition.
-- Role     internal
create or replace function howdah._kept_weeks() returns table (child regclass, name text, week timestamptz)
language sql stable
as $$
    select c.oid::regclass, c.relname::text,
        to_date(substring(c.relname from '[0-9]{4}w[0-9]{2}$'), 'IYYY"w"IW')::timestamp at time zone 'UTC'
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'howdah.kept_messages'::regclass
$$;
