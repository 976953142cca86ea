-- howdah._check_link(p_link): refuse a link that cannot work.
--
-- Raises   HD003 bad name; HD005 wrong argument; HD023 the selector is invalid.
-- Role     internal
--
-- The names of services and variables leave no room for a password. Only variables that begin with HOWDAH_ are read,
-- so that a link cannot send others of a worker's somewhere.
create or replace function howdah._check_link(p_link howdah.links) returns void
language plpgsql volatile
as $$
declare
    v_wrong text := case
        when (p_link.target_queue <> '' and length(p_link.target_queue) <= 250) is not true
            then 'the target queue needs a name of 1 to 250 characters'
        when num_nonnulls(p_link.service, p_link.dsn_env) <> 1
            then 'a link needs either a service or a variable that leads to the target'
        when p_link.service !~ '^[A-Za-z0-9_.-]{1,100}$'
            then 'a service has 1 to 100 characters out of A-Z a-z 0-9 . _ -'
        when p_link.dsn_env !~ '^HOWDAH_[A-Za-z0-9_]{1,90}$'
            then 'a variable has a name such as HOWDAH_VIENNA_DSN'
        when (p_link.batch_size between 1 and 10000) is not true then 'batch_size must be 1 to 10000'
        when (p_link.retry_ms_max > 0) is not true then 'retry_ms_max must be positive'
        when p_link.selector is not null and (select d.kind <> 'queue' from howdah.destinations d
            where d.id = p_link.source_id) then 'a selector is for queues; a subscription has its own'
    end;
begin
    if (p_link.name ~ '^[A-Za-z0-9_.-]{1,100}$') is not true then
        raise exception using errcode = 'HD003', message = 'bad name of a link',
            hint = 'It has 1 to 100 characters out of A-Z a-z 0-9 . _ -';
    elsif v_wrong is not null then
        raise exception using errcode = 'HD005', message = v_wrong,
            hint = 'A link names a service of pg_service.conf or an environment variable, never a DSN.';
    end if;
    perform howdah._compile_selector(p_link.selector);
end
$$;
