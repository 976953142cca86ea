-- howdah.stamp_all_headers(headers, user_id, app_id, producer_txid): as howdah.stamp_headers, for a batch.
--
-- Returns  the headers of all messages (jsonb[]).
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_producer howdah_admin
create or replace function howdah.stamp_all_headers(
    headers jsonb[], user_id boolean default false, app_id boolean default false, producer_txid boolean default false
) returns jsonb[]
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select array(select howdah.stamp_headers(h.headers, user_id, app_id, producer_txid)
        from unnest(stamp_all_headers.headers) with ordinality h(headers, place) order by h.place)
$$;
