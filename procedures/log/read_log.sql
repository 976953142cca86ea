-- howdah.read_log(reader, max_rows): read what was logged since this reader's last committed call.
--
-- Returns  entries as howdah.log_since returns them, at most max_rows (jsonb).
-- Raises   HD005 reader is empty or over 200 characters, or max_rows is not 1 to 10000; HD010 called from a maintenance
--          command; HD037 on a standby.
-- Role     howdah_consumer howdah_admin howdah_auditor
--
-- The database keeps where each reader is. Two that read under one name share the events. A name's first call begins
-- now. If the caller's transaction rolls back, the events come again. So a log that was written before the commit can
-- have them twice, and never lacks any.
create or replace function howdah.read_log(reader text, max_rows integer default 1000) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_position jsonb;
    v_read_at timestamptz;
    v_read record;
begin
    if read_log.reader is null or length(read_log.reader) not between 1 and 200 then
        raise exception using errcode = 'HD005', message = 'reader must be a name of 1 to 200 characters';
    end if;
    select r.position, r.read_at into v_position, v_read_at from howdah.log_readers r
    where r.reader = read_log.reader and r.read_as = howdah._caller();
    select s.* into v_read from howdah.log_since(v_position, max_rows) s;
    if v_position is null then
        insert into howdah.log_readers (reader, read_as, position, read_at)
        values (read_log.reader, howdah._caller(), v_read.next_position, howdah.now())
        on conflict on constraint pk_log_readers do nothing;
        return '[]';
    end if;
    if v_read.entries = '[]' and not v_read.more and v_read_at > howdah.now() - interval '1 minute' then
        return '[]';  -- an idle reader writes nothing
    end if;
    select r.position into v_position from howdah.log_readers r
    where r.reader = read_log.reader and r.read_as = howdah._caller()
    for no key update;
    select s.* into v_read from howdah.log_since(v_position, max_rows) s;
    update howdah.log_readers r set position = v_read.next_position, read_at = howdah.now()
    where r.reader = read_log.reader and r.read_as = howdah._caller();
    return v_read.entries;
end
$$;
