-- howdah.create_rule_set(name, copy_of): create a set of access rules, empty or as a copy of another one.
--
-- Returns  the number of its rules (integer).
-- Raises   HD005 the name is wrong or taken, or there is no set copy_of; HD010 not allowed; HD045 the master of changes
--          is away.
-- Role     howdah_admin
--
-- An empty set allows nothing. It takes effect once howdah.alter_engine, or a service, names it as its rule_set.
create or replace function howdah.create_rule_set(name text, copy_of text default null) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if name is null or name !~ '^[A-Za-z0-9._-]{1,100}$' then
        raise exception using errcode = 'HD005', message = format('bad name %s of a rule set',
            coalesce(quote_literal(left(name, 100)), 'NULL')),
            hint = 'A name has 1 to 100 characters out of A-Z a-z 0-9 . _ -';
    end if;
    perform howdah._check_rule_right(null, '*');
    if copy_of is not null then
        perform howdah._rule_set(copy_of);
    end if;
    perform howdah._touch_rules(create_rule_set.name);
    insert into howdah.access_rule_sets (name, created_at, created_by, changed_at)
    values (create_rule_set.name, howdah.now(), howdah._caller(), howdah.now())
    on conflict on constraint pk_access_rule_sets do nothing;
    if not found then
        raise exception using errcode = 'HD005',
            message = format('rule set %s exists already', quote_literal(name)),
            hint = 'Change it with howdah.set_rule or howdah.import_rules.';
    end if;
    perform howdah._record_change('rule_set', name, 'created', null, '{}');
    perform howdah._change_rule(create_rule_set.name, r.resource, r.name, r.operation, r.allow, r.kind, r.principals)
    from howdah.access_rules r where r.rule_set = copy_of;
    perform howdah._compile_matching(null, null);
    return (select count(*) from howdah.access_rules r where r.rule_set = create_rule_set.name);
end
$$;
