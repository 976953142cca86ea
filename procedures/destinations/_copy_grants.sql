-- howdah._copy_grants(): keep the lists in howdah.destinations of who may send and receive, which every call reads.
--
-- Returns  trigger.
-- Role     internal
--
-- It runs once a statement: a new queue gets nine rights in one.
create or replace function howdah._copy_grants() returns trigger
language plpgsql volatile set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._copy_grants_of(c.destination_id) from (select distinct t.destination_id from changed t) c;
    return null;
end
$$;

create or replace trigger copy_grants_added after insert on howdah.destination_grants
referencing new table as changed for each statement execute function howdah._copy_grants();
create or replace trigger copy_grants_changed after update on howdah.destination_grants
referencing new table as changed for each statement execute function howdah._copy_grants();
create or replace trigger copy_grants_removed after delete on howdah.destination_grants
referencing old table as changed for each statement execute function howdah._copy_grants();
