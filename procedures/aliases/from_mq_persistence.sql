-- howdah.from_mq_persistence(persistence, nonpersistent, persistent): the level of reliability of a message that comes
-- from IBM MQ.
--
-- Returns  the level's name (text): nonpersistent for MQPER_NOT_PERSISTENT, persistent for MQPER_PERSISTENT.
-- Raises   HD005 there is no such persistence or level, or a level is not of its kind.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
--
-- The defaults are those of WebSphere's link to IBM MQ: reliable non-persistent and assured.
create or replace function howdah.from_mq_persistence(
    persistence text, nonpersistent text default 'RELIABLE_NONPERSISTENT', persistent text default 'ASSURED_PERSISTENT'
) returns text
language plpgsql immutable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if (howdah._reliability_number(nonpersistent) <= 2 and howdah._reliability_number(persistent) >= 3) is not true then
        raise exception using errcode = 'HD005',
            message = format('%s and %s are not a non-persistent and a persistent level',
                coalesce(quote_literal(nonpersistent), 'NULL'), coalesce(quote_literal(persistent), 'NULL')),
            hint = 'Give one of each kind.';
    elsif (persistence in ('MQPER_NOT_PERSISTENT', 'MQPER_PERSISTENT')) is not true then
        raise exception using errcode = 'HD005',
            message = format('there is no persistence %s', coalesce(quote_literal(left(persistence, 60)), 'NULL')),
            hint = 'It is MQPER_NOT_PERSISTENT or MQPER_PERSISTENT.';
    end if;
    return case persistence when 'MQPER_PERSISTENT' then persistent else nonpersistent end;
end
$$;
