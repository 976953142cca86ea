-- howdah._open_lane(p_destination_id, p_rank, p_place): have receives look for messages of a rank in a place.
--
-- Role     internal
--
-- Called in the transaction that stores such a message, so that both are seen at once; the main lane is always open. Nobody waits
-- here: of several first senders one makes the sequences, the others add a row without; receives pass over what is there twice.
create or replace function howdah._open_lane(p_destination_id integer, p_rank integer, p_place integer) returns void
language plpgsql volatile
as $$
declare
    v_id bigint;
begin
    if p_place = 2 and exists (select from howdah.destinations d where d.id = p_destination_id and d.main_rank = p_rank) then
        return;
    end if;
    perform nextval(d.special) from howdah.destinations d where d.id = p_destination_id;
    if exists (select from howdah.lanes l
               where l.destination_id = p_destination_id and l.rank = p_rank and l.place = p_place and l.head is not null) then
        return;
    end if;
    if pg_try_advisory_xact_lock(howdah._lock_key('lane', p_destination_id || ':' || p_rank * 3 + p_place)) then
        v_id := nextval(pg_get_serial_sequence('howdah.lanes', 'id'));
        insert into howdah.lanes (id, destination_id, rank, place, head, search) overriding system value
        values (v_id, p_destination_id, p_rank, p_place, howdah._new_hint('head_' || v_id), howdah._new_hint('search_' || v_id));
    elsif not exists (select from howdah.lanes l
                      where l.destination_id = p_destination_id and l.rank = p_rank and l.place = p_place) then
        insert into howdah.lanes (destination_id, rank, place) values (p_destination_id, p_rank, p_place);
    end if;
end
$$;

-- howdah._new_hint(p_name): make a sequence that serves as memory outside transactions: never bloated, seen by all at once.
--
-- Returns  regclass.
-- Role     internal
--
-- UNLOGGED where PostgreSQL can (from 15 on): a crash sets it back to nothing, which is a hint like any other.
create or replace function howdah._new_hint(p_name text) returns regclass
language plpgsql volatile set default_tablespace = ''
as $$
begin
    execute format('create %s sequence howdah.%I minvalue 0 start 1',
        case when current_setting('server_version_num')::integer >= 150000 then 'unlogged' else '' end, p_name);
    return format('howdah.%I', p_name)::regclass;
end
$$;

-- howdah._hint(p_sequence): what a hint remembers.
--
-- Returns  bigint; 0 if nothing.
-- Role     internal
create or replace function howdah._hint(p_sequence regclass) returns bigint
language sql volatile
as $$ select coalesce(pg_sequence_last_value(p_sequence), 0) $$;

-- howdah._advance(p_head, p_position): move a head forward, never back.
--
-- Returns  true.
-- Role     internal
--
-- A head that went back would give out again the tickets that other receivers hold, and one would wait for the other's end.
create or replace function howdah._advance(p_head regclass, p_position bigint) returns boolean
language sql volatile
as $$ select coalesce(pg_sequence_last_value(p_head), 0) >= p_position or setval(p_head, p_position) is not null $$;

-- howdah._pace(p_clock): the time in which the steps of a search are paced.
--
-- Returns  milliseconds, bigint.
-- Role     internal
--
-- From clock_timestamp(), not howdah.now(): it decides how often to look, never what is delivered. Not IMMUTABLE, for date_part
-- is not, and PostgreSQL would then not inline it (1 us a call).
create or replace function howdah._pace(p_clock timestamptz) returns bigint
language sql stable
as $$ select (date_part('epoch', p_clock) * 1000)::bigint $$;

-- howdah._is_due(p_search, p_pace): whether a step of a search is due.
--
-- Returns  boolean.
-- Role     internal
--
-- The low 20 bits of p_search are when, modulo 2^20 ms (17 minutes). More than 2 s ahead is no time that a step sets:
-- the value is old or wrong.
create or replace function howdah._is_due(p_search bigint, p_pace bigint) returns boolean
language sql immutable
as $$ select ((((coalesce(p_search, 0) & 1048575) - p_pace) & 1048575) - 1) & 1048575 >= 2000 $$;

-- howdah._is_overdue(p_search, p_pace): whether a step of a search has been due for 5 ms or more: nobody receives in quick succession.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_overdue(p_search bigint, p_pace bigint) returns boolean
language sql immutable
as $$ select (p_pace - (coalesce(p_search, 0) & 1048575)) & 1048575 between 5 and 1046575 $$;

-- howdah._remember(p_search, p_back, p_begun, p_found): note how far a search came, and when its next step is due.
--
-- Role     internal
--
-- At once after a step that found something; else after 5 ms, or so late that steps take a twentieth of the time at most.
create or replace function howdah._remember(p_search regclass, p_back bigint, p_begun timestamptz, p_found boolean) returns void
language plpgsql volatile
as $$
declare
    v_now timestamptz := clock_timestamp();
    v_pause interval := case when p_found then '0' else least(greatest('5 ms', 20 * (v_now - p_begun)), '2 s'::interval) end;
begin
    perform setval(p_search, (p_back << 20) | (howdah._pace(v_now + v_pause) & 1048575));
end
$$;

-- howdah._search_from(p_destination_id, p_rank, p_position): have the next receive search from a position on.
--
-- Role     internal
create or replace function howdah._search_from(p_destination_id integer, p_rank integer, p_position bigint) returns void
language plpgsql volatile
as $$
begin
    perform howdah._remember(l.search, 2 * greatest(p_position - 1, 0), clock_timestamp(), true)
    from (select d.search from howdah.destinations d where d.id = p_destination_id and d.main_rank = p_rank
          union all
          select o.search from howdah.lanes o
          where o.destination_id = p_destination_id and o.rank = p_rank and o.place = 2 and o.search is not null) l;
end
$$;

-- howdah._in_order(p_lanes): the lanes of a destination in the order in which messages are taken, each once.
--
-- Returns  howdah.lanes[].
-- Role     internal
--
-- Whoever comes first after a restart also removes the lost non-persistent messages.
create or replace function howdah._in_order(p_lanes howdah.lanes[]) returns howdah.lanes[]
language plpgsql volatile
as $$
begin
    if exists (select from unnest(p_lanes) l where l.place < 2) then
        perform howdah._sweep_lost();
    end if;
    return array(
        select o.lane from (
            select distinct on (l.rank, l.place) l.rank, l.place, l as lane
            from unnest(p_lanes) l order by l.rank, l.place, l.head is null, l.id
        ) o
        order by o.rank, o.place);
end
$$;
