-- howdah._note_service(): see that who changes a service's own access rules may, and call howdah._copy_rights_of.
--
-- Returns  trigger.
-- Raises   HD005 there is no such set of rules; HD010 not allowed.
-- Role     internal
--
-- The roles of a service count, too: they decide whose rules it names.
create or replace function howdah._note_service() returns trigger
language plpgsql volatile set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if exists (select from howdah.services s where s.access_enabled is not null or s.rule_set is not null)
       or tg_op <> 'INSERT' and (old.access_enabled is not null or old.rule_set is not null) then
        perform howdah._check_rule_right(null, '*');
    end if;
    if tg_op <> 'DELETE' and new.rule_set is not null then
        perform howdah._rule_set(new.rule_set);
    end if;
    perform howdah._touch_rules(null);
    perform howdah._copy_rights_of(array(select d.id from howdah.destinations d));
    return null;
end
$$;
