-- howdah.create_alias(alias, target, options): give a queue or topic another name, with levels of its own.
--
-- Raises   HD001 there is no such target; HD002 a destination or an alias has the name; HD003 bad name; HD004 unknown
--          or wrong option; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- options is a JSON object of default_reliability, max_reliability and producer_may_override. One that is not given,
-- or null, is inherited from the target. A role that sends to the alias, or receives from it, needs the target's
-- right.
create or replace function howdah.create_alias(alias text, target text, options jsonb default '{}') returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._check_name(alias);
    perform howdah._check_may_create('queue', alias);
    perform howdah._lock_names();
    if exists (select from howdah.destinations d where d.name = alias and d.dropped_at is null)
       or exists (select from howdah.aliases a where a.name = alias) then
        raise exception using errcode = 'HD002', message = format('%s exists already', quote_literal(alias)),
            hint = 'Change an alias with howdah.alter_alias(alias, options, target).';
    end if;
    perform howdah._store_alias(alias, target, options);
end
$$;
