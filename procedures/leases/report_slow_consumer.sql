-- howdah.report_slow_consumer(queue, facts): tell administrators that a consumer holds as many messages as it may and
-- acknowledges none.
--
-- Returns  nothing; the event SLOW_CONSUMER with these facts (a JSON object) is sent to the queue _SYSTEM.Advisory.
-- Raises   HD001 no such queue; HD005 facts are no JSON object, or exceed 10000 bytes; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.report_slow_consumer(queue text, facts jsonb default '{}') returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
begin
    if jsonb_typeof(facts) is distinct from 'object' or octet_length(facts::text) > 10000 then
        raise exception using errcode = 'HD005', message = 'facts must be a JSON object of at most 10000 bytes',
            hint = 'Such as {"consumer": "billing-1", "unacknowledged": 150}.';
    end if;
    perform howdah._advise('SLOW_CONSUMER', v_destination.name, facts);
end
$$;
