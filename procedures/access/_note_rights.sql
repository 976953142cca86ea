-- howdah._note_rights(): call howdah._copy_rights_of after a change of rights, or of the sets of rules in force.
--
-- Returns  trigger.
-- Role     internal
create or replace function howdah._note_rights() returns trigger
language plpgsql volatile set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if tg_table_name in ('engine', 'services') then
        perform howdah._touch_rules(null);
        perform howdah._copy_rights_of(array(select d.id from howdah.destinations d));
    elsif tg_op = 'UPDATE' then
        perform howdah._copy_rights_of(array(select n.destination_id from now_so n union
            select b.destination_id from so_before b)) where exists (select from now_so);
    elsif tg_op = 'INSERT' then
        perform howdah._copy_rights_of(array(select distinct n.destination_id from now_so n))
        where exists (select from now_so);
    else
        perform howdah._copy_rights_of(array(select distinct b.destination_id from so_before b))
        where exists (select from so_before);
    end if;
    return null;
end
$$;

create or replace trigger note_new after insert on howdah.destination_grants
referencing new table as now_so for each statement execute function howdah._note_rights();

create or replace trigger note_changed after update on howdah.destination_grants
referencing old table as so_before new table as now_so for each statement execute function howdah._note_rights();

create or replace trigger note_gone after delete on howdah.destination_grants
referencing old table as so_before for each statement execute function howdah._note_rights();

create or replace trigger note_rule_set after update on howdah.engine
for each row when (old.rule_set is distinct from new.rule_set) execute function howdah._note_rights();

create or replace trigger note_service after update on howdah.services
for each row when ((old.rule_set, old.access_enabled, old.roles) is distinct from
    (new.rule_set, new.access_enabled, new.roles)) execute function howdah._note_rights();
