-- howdah.log(level, text, details): write a line to the log of the engine's workers.
--
-- Raises   HD005 level is not ERROR, WARNING or INFO, text is empty or over 2000 characters, or details are no JSON
--          object or exceed 10000 bytes; HD010 called from a maintenance command.
-- Role     howdah_admin howdah_producer howdah_consumer
--
-- The line belongs to the caller's transaction: if that rolls back, nothing is logged. details are more facts as a JSON
-- object. The engine's option log_level decides whether the line is kept.
create or replace function howdah.log(level text, text text, details jsonb default '{}') returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    if howdah._log_severity(upper(log.level)) is null then
        raise exception using errcode = 'HD005', message = format('level must be ERROR, WARNING or INFO, not %s',
            coalesce(quote_literal(log.level), 'NULL'));
    end if;
    if log.text is null or log.text !~ '[^[:space:]]' or length(log.text) > 2000 then
        raise exception using errcode = 'HD005', message = 'text must have 1 to 2000 characters',
            hint = 'Put further facts into details.';
    end if;
    if jsonb_typeof(log.details) is distinct from 'object' or octet_length(log.details::text) > 10000 then
        raise exception using errcode = 'HD005', message = 'details must be a JSON object of at most 10000 bytes',
            hint = 'Such as {"invoices": 150}.';
    end if;
    perform howdah._log_event('LOG', null, log.details, upper(log.level), log.text);
end
$$;
