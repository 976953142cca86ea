-- howdah._chosen(p_source, p_message_ids, p_max, p_origin, p_error_class, p_fingerprint, p_older_than, p_newer_than, p_selector): the messages that an operator's act is to concern.
--
-- Returns  their numbers (bigint[]), of what the filters of howdah.list_poison meet the p_max longest dead; NULL: neither numbers nor a
--          filter are given.
-- Raises   HD001 there never was a queue p_origin; HD005 p_max is negative, or numbers and a filter are both given; HD023 a wrong selector.
-- Role     internal
create or replace function howdah._chosen(
    p_source howdah.destinations, p_message_ids bigint[], p_max bigint, p_origin text, p_error_class text, p_fingerprint text,
    p_older_than timestamptz, p_newer_than timestamptz, p_selector text
) returns bigint[]
language plpgsql volatile
as $$
begin
    if p_max < 0 then
        raise exception using errcode = 'HD005', message = format('max_messages %s is negative', p_max);
    end if;
    if num_nonnulls(p_origin, p_error_class, p_fingerprint, p_older_than, p_newer_than, p_selector) = 0 then
        return p_message_ids;
    end if;
    if p_message_ids is not null then
        raise exception using errcode = 'HD005', message = 'message_ids and a filter do not go together', hint = 'Give one of them.';
    end if;
    return array(
        select d.message_id from howdah._dead_messages(p_source.id, howdah._origin(p_origin), p_error_class, p_fingerprint,
            p_older_than, p_newer_than, howdah._selected(p_source.id, p_selector), null, p_max) d);
end
$$;

-- howdah._check_all_taken(p_source, p_message_ids, p_count, p_act): raise unless an act found each of the messages named.
--
-- Returns  nothing.
-- Raises   HD013 it found fewer. p_act is the verb for the hint.
-- Role     internal
create or replace function howdah._check_all_taken(p_source howdah.destinations, p_message_ids bigint[], p_count bigint, p_act text)
returns void
language plpgsql stable
as $$
begin
    if p_count < (select count(distinct i.id) from unnest(p_message_ids) i(id))
       or exists (select from unnest(p_message_ids) i(id) where i.id is null) then
        raise exception using errcode = 'HD013',
            message = format('not all of these messages are in queue %s', quote_literal(p_source.name)),
            hint = format('See howdah.browse(queue); a message in somebody''s hands cannot be %s.', p_act);
    end if;
end
$$;

-- howdah._check_chosen(p_message_ids): raise if an act that does not take all of a queue is told neither numbers nor a filter.
--
-- Returns  nothing.
-- Raises   HD005 p_message_ids is NULL.
-- Role     internal
create or replace function howdah._check_chosen(p_message_ids bigint[]) returns void
language plpgsql immutable
as $$
begin
    if p_message_ids is null then
        raise exception using errcode = 'HD005', message = 'message_ids cannot be NULL without a filter',
            hint = 'Name the messages, or give a filter of howdah.list_poison; howdah.move_all(queue, target) and howdah.purge_queue(queue) take all.';
    end if;
end
$$;

-- howdah._takeable(p_destination, p_message_ids, p_max): what howdah._take_back would take now, for an act that is only tried.
--
-- Returns  number and origin of each; locks nothing, so what another transaction holds is among them.
-- Role     internal
create or replace function howdah._takeable(p_destination howdah.destinations, p_message_ids bigint[], p_max bigint)
returns table (message_id bigint, origin_id integer)
language sql stable
as $$
    select t.message_id, t.origin_id
    from (
        select m.message_id, m.origin_id, 1 as place from howdah.msgs m
        where m.destination_id = p_destination.id and (p_message_ids is null or m.message_id = any (p_message_ids))
        union all
        select p.message_id, p.origin_id, 2 from howdah.parked p
        where p.destination_id = p_destination.id and (p_message_ids is null or p.message_id = any (p_message_ids))
          and (p.lease_id is null or p.due_at <= howdah.now()) and (p.boot is null or p.boot = pg_postmaster_start_time())
        union all
        select l.message_id, l.origin_id, 2 from howdah.leased l join howdah.leases h on h.lease_id = l.seq >> 20
        where l.destination_id = p_destination.id and (p_message_ids is null or l.message_id = any (p_message_ids))
          and h.until <= howdah.now()
        union all
        select n.message_id, n.origin_id, 3 from howdah.msgs_nonpersistent n
        where n.destination_id = p_destination.id and n.boot = pg_postmaster_start_time()
          and (p_message_ids is null or n.message_id = any (p_message_ids))
    ) t
    order by t.place, t.message_id
    limit p_max
$$;
