-- howdah._return_leases(p_destination_id, p_want, p_now, p_since, p_message_ids): move messages of leases that ran out
-- to parked, from where receives take what is due.
--
-- Role     internal
--
-- It moves at most p_want messages (NULL: all) in the order in which their leases ended. Messages that others are
-- receiving are skipped. p_since: only leases that ended after this (NULL: all). p_message_ids: only these (NULL: all).
--
-- The leases are locked first, against howdah.extend, which replaces their rows. So a message is locked only if its
-- lease has really ended. No acknowledgement ever waits for a receiver that came a moment too early.
create or replace function howdah._return_leases(
    p_destination_id integer, p_want bigint, p_now timestamptz, p_since timestamptz default null,
    p_message_ids bigint[] default null
) returns void
language plpgsql volatile
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_until timestamptz := coalesce(p_since, '-infinity');
    v_last bigint := 9223372036854775807;
    v_leases bigint[];
    v_only bigint[];
    v_page bigint := p_want;
    v_left bigint := p_want;
    v_grouped boolean;
    v_moved bigint;
    v_from bigint[];
begin
    if not exists (select from howdah.leases l where l.destination_id = p_destination_id and l.until <= p_now
        and l.until > v_until) then
        return;
    end if;
    if p_message_ids is not null then
        v_only := array(select distinct m.seq >> 20 from howdah.leased m
                        where m.destination_id = p_destination_id and m.message_id = any (p_message_ids));
    end if;
    -- groups that were switched on since
    v_grouped := (select d.message_groups <> 'none' from howdah.destinations d where d.id = p_destination_id);
    loop
        v_leases := array(
            select l.lease_id from howdah.leases l
            where l.destination_id = p_destination_id and l.until <= p_now and (l.until, l.lease_id) > (v_until, v_last)
              and (v_only is null or l.lease_id = any (v_only))
            order by l.until, l.lease_id limit v_page for share skip locked);
        exit when v_leases = '{}';
        with gone as (
            delete from howdah.leased m where m.ctid = any (array(
                select c.ctid
                from howdah.leases l join howdah.leased c
                    on c.destination_id = l.destination_id and c.rank = l.rank and c.seq >= l.lease_id << 20
                     and c.seq < (l.lease_id + 1) << 20
                where l.lease_id = any (v_leases) and (p_message_ids is null or c.message_id = any (p_message_ids))
                order by l.until, c.seq limit v_left for update of c skip locked))
            returning m
        ), moved as (
            insert into howdah.parked
            select (howdah._unleased(g.m)).*, l.until, 'lease', null, l.lease_id,
                case when v_grouped then howdah._group((g.m).headers, (g.m).conversation_id) end
            from gone g join howdah.leases l on l.lease_id = (g.m).seq >> 20
            returning lease_id
        )
        select count(*), array_agg(distinct m.lease_id) into v_moved, v_from from moved m;
        v_left := v_left - v_moved;
        select l.until, l.lease_id into v_until, v_last from howdah.leases l
        where l.lease_id = v_leases[cardinality(v_leases)];
        if v_left <= 0 then  -- the messages of those behind were not tried
            v_leases := v_leases[:(select max(array_position(v_leases, f.id)) from unnest(v_from) f(id))];
        end if;
        perform howdah._forget_lease(l) from howdah.leases l where l.lease_id = any (v_leases);
        exit when v_left <= 0 or p_want is null;
        v_page := greatest(4 * v_page, 100);
    end loop;
end
$$;
