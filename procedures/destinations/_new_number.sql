-- howdah._new_number(): a number that no destination has or had.
--
-- Returns  integer, 1 to 999999.
-- Raises   HD002 all numbers are taken.
-- Role     internal
--
-- A number drawn by a transaction that rolled back never belonged to anybody. Once the sequence has reached its end,
-- such numbers are searched for. The advisory lock skips numbers that open transactions have drawn. The catalog shows
-- at once what another transaction has just committed.
create or replace function howdah._new_number() returns integer
language plpgsql volatile
as $$
declare
    v_sequence constant regclass := pg_get_serial_sequence('howdah.destinations', 'id');
    v_id integer;
begin
    if coalesce(pg_sequence_last_value(v_sequence), 0) < 999999 then
        v_id := nextval(v_sequence);
        if v_id <= 999999 and pg_try_advisory_xact_lock(howdah._lock_key('number', v_id::text)) then
            return v_id;
        end if;
    end if;
    for v_id in
        select d.id + 1 from (select 0 as id union all select t.id from howdah.destinations t) d
        where d.id < 999999 and not exists (select from howdah.destinations n where n.id = d.id + 1)
        order by d.id
    loop
        while v_id <= 999999 and not exists (select from howdah.destinations d where d.id = v_id) loop
            if pg_try_advisory_xact_lock(howdah._lock_key('number', v_id::text))
               and to_regclass('howdah.positions_' || v_id) is null
               and not exists (select from howdah.destinations d where d.id = v_id) then
                return v_id;
            end if;
            v_id := v_id + 1;
        end loop;
    end loop;
    raise exception using errcode = 'HD002', message = 'a database has room for 999,999 queues over its life',
        hint = 'The number of a queue is part of its messages'' numbers.';
end
$$;
