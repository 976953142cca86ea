-- howdah._copy_grants(): keep the lists in howdah.destinations of who may send and receive, which every call reads.
--
-- Returns  trigger.
-- Role     internal
create or replace function howdah._copy_grants() returns trigger
language plpgsql volatile set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._copy_grants_of(new.destination_id) where new.destination_id is not null;
    perform howdah._copy_grants_of(old.destination_id) where old.destination_id is distinct from new.destination_id;
    return null;
end
$$;

create or replace trigger copy_grants after insert or update or delete on howdah.destination_grants
for each row execute function howdah._copy_grants();
