-- howdah.alter_alias(alias, options, target): change the options of an alias, or what it stands for.
--
-- Raises   HD001 there is no such alias or target; HD003 bad name; HD004 unknown or wrong option; HD010 not allowed;
--          HD045 the master of changes is away.
-- Role     howdah_admin
--
-- Options that are not named stay; null inherits the target's again. target NULL: it stays. It takes the right admin at
-- the target, also at the former one, and the right to create the alias.
create or replace function howdah.alter_alias(alias text, options jsonb default '{}', target text default null)
returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_alias howdah.aliases;
begin
    select a.* into v_alias from howdah.aliases a where a.name = alias for update;
    if not found then
        raise exception using errcode = 'HD001',
            message = format('there is no alias %s', coalesce(quote_literal(left(alias, 250)), 'NULL')),
            hint = 'See howdah.list_aliases().';
    end if;
    perform howdah._check_may_create('queue', alias);
    if exists (select from howdah.destinations d where d.name = v_alias.target and d.dropped_at is null) then
        perform howdah._destination(v_alias.target, 'admin');
    end if;
    perform howdah._store_alias(alias, coalesce(target, v_alias.target), options);
end
$$;
