-- howdah._check_targets(p_options): refuse options that would send messages to a queue at which the caller has no right
-- to send or administer.
--
-- Raises   HD010 not allowed.
-- Role     internal
--
-- Otherwise an administrator of one team's queues could fill another team's by exception_queue or log_queue. A queue
-- that does not exist yet is checked when it is created.
create or replace function howdah._check_targets(p_options jsonb) returns void
language plpgsql stable
as $$
declare
    v_name text := (
        select t.name
        from (
            select d.id, d.name from howdah.destinations d
            where d.name in (p_options ->> 'exception_queue', p_options ->> 'log_queue') and d.dropped_at is null
            offset 0  -- the right is asked for there alone, not at every destination there is
        ) t
        where not howdah._has_right(t.id, 'send') and not howdah._has_right(t.id, 'admin') limit 1);
begin
    if v_name is not null then
        raise exception using errcode = 'HD010',
            message = format('role %s may not have messages go to queue %s', quote_ident(howdah._caller()),
                quote_literal(v_name)),
            hint = 'Ask who has the right send or admin there (howdah.explain_access).';
    end if;
end
$$;
