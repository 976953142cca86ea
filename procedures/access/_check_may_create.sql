-- howdah._check_may_create(p_resource, p_name): refuse an administrator who may not create under a name.
--
-- Raises   HD010 not allowed.
-- Role     internal
--
-- It takes the right create or admin at that name, or the right to change all access rules. So an administrator of one
-- team's queues makes nothing among another team's names.
create or replace function howdah._check_may_create(p_resource text, p_name text) returns void
language plpgsql stable
as $$
begin
    if not (howdah._may_change_all_rules() or howdah._has_right_by_name(p_resource, p_name, 'create')
            or howdah._has_right_by_name(p_resource, p_name, 'admin')) then
        raise exception using errcode = 'HD010',
            message = format('role %s may not create %s %s', quote_ident(howdah._caller()), p_resource,
                quote_literal(p_name)),
            hint = howdah._rights_hint('Ask who has the right create at that name (howdah.explain_access).');
    end if;
end
$$;
