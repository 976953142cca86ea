-- howdah._matching_queues(p_pattern, p_want, p_selector): the queues that a receive from a wildcard looks into, in the
-- order of looking.
--
-- Returns  their names (text[]).
-- Raises   HD001 no queue matches; HD003 the wildcard is invalid; HD005, HD023 as howdah.receive; HD010 the caller may
--          not receive from any that matches.
-- Role     internal
--
-- Queues that are paused, hardened or tell their consumers apart are skipped, and so are other
-- connections' temporary queues. The order starts at a random queue and
-- goes round, so that a busy queue does not starve the others. A queue whose head has reached its last position is
-- asked only if the others had nothing.
create or replace function howdah._matching_queues(p_pattern text, p_want integer, p_selector text) returns text[]
language plpgsql volatile
as $$
declare
    v_busy text[];
    v_idle text[];
    v_allowed integer;
    v_any boolean;
    v_start integer;
begin
    perform howdah._check_wildcard(p_pattern);
    if p_want is null or p_want not between 1 and 10000 then
        raise exception using errcode = 'HD005', message = format('max_messages must be 1 to 10000, not %s',
            coalesce(p_want::text, 'NULL'));
    end if;
    perform howdah._compile_selector(p_selector);
    select coalesce(array_agg(q.name order by q.id) filter (where q.allowed and not q.closed and not q.idle), '{}'),
        coalesce(array_agg(q.name order by q.id) filter (where q.allowed and not q.closed and q.idle), '{}'),
        count(*) filter (where q.allowed), count(*) > 0
    into v_busy, v_idle, v_allowed, v_any
    from (select d.name, d.id, d.receiving_paused and (d.own_receiving_paused or howdah._engine_state() <> 'running')
        or d.backout_count = 'hardened' or d.delivery_policy <> 'shared' or d.message_groups = 'sticky' as closed,
              howdah._has_role(d.receivers[1])
                  or howdah._has_right(d.id, 'receive') as allowed,
              pg_sequence_last_value(d.special) is null
              and coalesce(pg_sequence_last_value(d.head), 0) >= coalesce(pg_sequence_last_value(d.positions),
                  0) as idle
          from howdah.destinations d
          where d.kind = 'queue' and d.dropped_at is null and howdah._matches_wildcard(d.name, p_pattern)
            and not d.is_system and (not d.name ^@ '_TEMP.' or exists (
                select from howdah.temporary_queues t
                where t.destination_id = d.id and t.connection = current_setting('howdah.connection', true)))) q;
    if not v_any then
        raise exception using errcode = 'HD001', message = format('no queue matches %s',
            quote_literal(left(p_pattern, 250))),
            hint = 'See howdah.list_queues().';
    elsif v_allowed = 0 then
        raise exception using errcode = 'HD010',
            message = format('role %s may not receive from any queue that matches %s',
            quote_ident(howdah._caller()), quote_literal(p_pattern)),
            hint = howdah._rights_hint(
                'Ask an administrator for membership in a role that has this right (howdah.list_grants).');
    end if;
    v_start := floor(random() * cardinality(v_busy));
    return v_busy[v_start + 1:] || v_busy[1:v_start] || v_idle;
end
$$;
