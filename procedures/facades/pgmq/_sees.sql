-- pgmq._sees(p_destination_id): whether the caller may browse a queue. The views ask it once a query.
--
-- Returns  boolean.
-- Role     everybody
create or replace function pgmq._sees(p_destination_id integer) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$ begin return howdah._has_right(p_destination_id, 'browse') or howdah._has_right(p_destination_id, 'receive'); end $$;
