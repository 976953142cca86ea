-- howdah._check_rule_right(p_resource, p_name): refuse a caller who may not change the access rules for a name.
--
-- Raises   HD010 not allowed.
-- Role     internal
--
-- Rules of one queue or topic need the right admin there. All others, and sets as a whole (p_resource NULL), need
-- howdah._may_change_all_rules.
create or replace function howdah._check_rule_right(p_resource text, p_name text) returns void
language plpgsql stable
as $$
begin
    if howdah._may_change_all_rules() then
        return;
    elsif p_resource in ('queue', 'topic') and (p_name !~ '[*>]' or strpos(p_name, ':') > 0) and coalesce(
            (select howdah._has_right(d.id, 'admin') and p_resource = howdah._resource_of(d.kind)
             from howdah.destinations d where d.name = p_name and d.dropped_at is null),
            howdah._has_right_by_name(p_resource, p_name, 'admin')) then
        return;
    end if;
    raise exception using errcode = 'HD010',
        message = format('role %s may not change the access rules of %s', quote_ident(howdah._caller()),
            coalesce(quote_literal(nullif(p_name, '*')), 'everything')),
        hint = howdah._rights_hint('Ask who has the right admin at all queues and topics (howdah.explain_access).');
end
$$;
