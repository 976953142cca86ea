-- howdah.stamp_all_headers(headers, number, user_id, app_id, producer_txid): as howdah.stamp_headers, for a batch.
--
-- Returns  the headers of all messages (jsonb[]). headers NULL: as many empty ones as number says.
-- Raises   HD005 number is not 0 to 1000000.
-- Role     howdah_producer howdah_admin
create or replace function howdah.stamp_all_headers(
    headers jsonb[], number integer, user_id boolean default false, app_id boolean default false,
    producer_txid boolean default false
) returns jsonb[]
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if (number between 0 and 1000000) is not true then
        raise exception using errcode = 'HD005', message = 'number must be 0 to 1000000',
            hint = 'It is the number of messages of the batch.';
    end if;
    return array(select howdah.stamp_headers(h.headers, user_id, app_id, producer_txid)
        from unnest(coalesce(stamp_all_headers.headers, array_fill(null::jsonb, array[number])))
            with ordinality h(headers, place)
        order by h.place);
end
$$;
