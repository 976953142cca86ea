-- howdah._boot_ms(): when the server was started.
--
-- Returns  milliseconds since 1970 (bigint).
-- Role     internal
create or replace function howdah._boot_ms() returns bigint
language sql stable
as $$ select (date_part('epoch', pg_postmaster_start_time()) * 1000)::bigint $$;
