-- howdah._grants_of(p_destination_id): the rights that a destination copied at its creation, beside the access rules.
--
-- Returns  a JSON array of texts such as "send group orders_app", sorted.
-- Role     internal
create or replace function howdah._grants_of(p_destination_id integer) returns jsonb
language sql stable
as $$
    select coalesce(jsonb_agg(concat_ws(' ', g.verb, g.kind, g.role_name) order by g.verb, g.kind, g.role_name), '[]')
    from howdah.destination_grants g where g.destination_id = p_destination_id and g.rule_set = ''
$$;
