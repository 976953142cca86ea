-- howdah.stamp_headers(headers, user_id, app_id, producer_txid): headers with the JMSX properties of their sender.
--
-- Returns  the headers (jsonb) with JMSXUserID, the caller's role; JMSXAppID, application_name; JMSXProducerTXID, the
--          transaction's id: those that are asked for. They stand over what the headers had.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_producer howdah_admin
--
-- A send whose connection factory switches such properties on passes its headers through here, in the same statement:
-- send('q', 'x', headers => howdah.stamp_headers('{}', user_id => true)). Only the option stamp_user of a queue keeps
-- others from writing what they like.
create or replace function howdah.stamp_headers(
    headers jsonb default '{}', user_id boolean default false, app_id boolean default false,
    producer_txid boolean default false
) returns jsonb
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select case when howdah._refuse_maintenance() and jsonb_typeof(coalesce(headers, '{}')) = 'object' then
        coalesce(headers, '{}')
        || case when user_id then jsonb_build_object('JMSXUserID', howdah._caller()) else '{}' end
        || case when app_id then jsonb_build_object('JMSXAppID', current_setting('application_name')) else '{}' end
        || case when producer_txid then jsonb_build_object('JMSXProducerTXID', pg_current_xact_id()::text)
            else '{}' end
        else headers end
$$;
