-- howdah._holds_messages(p_destination_id): whether a destination holds any message, including expired ones.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._holds_messages(p_destination_id integer) returns boolean
language sql stable
as $$
    select exists (select from howdah.msgs m where m.destination_id = p_destination_id)
        or exists (select from howdah.leased l where l.destination_id = p_destination_id)
        or exists (select from howdah.msgs_nonpersistent n
                   where n.destination_id = p_destination_id and n.boot = pg_postmaster_start_time())
        or exists (select from howdah.parked p
                   where p.destination_id = p_destination_id
                     and (p.boot is null or p.boot = pg_postmaster_start_time()))
$$;
