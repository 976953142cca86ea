-- howdah._check_pattern_right(p_pattern): refuse an administrator who may not administer all that a wildcard covers.
--
-- Raises   HD010 not allowed.
-- Role     internal
--
-- It takes the right admin at all queues and topics of such names, or the right to change all access rules. Names that
-- nobody has created yet count. So an administrator of one team's queues decides nothing about another team's next one.
create or replace function howdah._check_pattern_right(p_pattern text) returns void
language plpgsql stable
as $$
begin
    if not (howdah._may_change_all_rules() or coalesce(p_pattern ~ '^[A-Za-z0-9._/*>-]+$'
            and howdah._may_everywhere('queue', p_pattern, 'admin')
            and howdah._may_everywhere('topic', p_pattern, 'admin'), false)) then
        raise exception using errcode = 'HD010',
            message = format('role %s may not decide for all queues and topics named %s', quote_ident(howdah._caller()),
                coalesce(quote_literal(left(p_pattern, 250)), 'NULL')),
            hint = howdah._rights_hint('Ask who has the right admin at all these names (howdah.explain_access).');
    end if;
end
$$;
