-- howdah.to_mq_persistence(reliability): how IBM MQ has a message of a level of reliability.
--
-- Returns  MQPER_PERSISTENT for the two persistent levels, else MQPER_NOT_PERSISTENT (text).
-- Raises   HD005 there is no such level or mode.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
--
-- WebSphere's service integration maps levels so on their way to IBM MQ.
create or replace function howdah.to_mq_persistence(reliability text) returns text
language plpgsql immutable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return case when howdah._reliability_number(reliability) >= 3 then 'MQPER_PERSISTENT'
        when howdah._reliability_number(reliability) is not null then 'MQPER_NOT_PERSISTENT' end;
end
$$;
