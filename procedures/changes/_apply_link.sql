-- howdah._apply_link(p_name, p_is, p_wanted): give a link wanted properties.
--
-- Raises   HD045 its identity was changed, which cannot be taken back; what the verbs raise that it calls.
-- Role     internal
--
-- A link that is made anew has a new identity.
create or replace function howdah._apply_link(p_name text, p_is jsonb, p_wanted jsonb) returns void
language plpgsql volatile
as $$
begin
    if p_wanted ? 'link_id' then
        raise exception using errcode = 'HD045', message = 'the identity of a link cannot be taken back',
            hint = 'See howdah.rebase_link(name).';
    elsif p_wanted is null then
        perform howdah.drop_link(p_name);
        return;
    elsif p_is is null then
        perform howdah.create_link(p_name, p_wanted ->> 'source', p_wanted ->> 'target_queue',
            p_wanted ->> 'service', p_wanted ->> 'dsn_env', p_wanted ->> 'selector',
            (p_wanted ->> 'batch_size')::integer, (p_wanted ->> 'retry_ms_max')::integer,
            p_wanted ->> 'transformation');
    else
        perform howdah.alter_link(p_name, p_wanted ->> 'target_queue', p_wanted ->> 'service', p_wanted ->> 'dsn_env',
            coalesce(p_wanted ->> 'selector', ''), (p_wanted ->> 'batch_size')::integer,
            (p_wanted ->> 'retry_ms_max')::integer, coalesce(p_wanted ->> 'transformation', ''));
    end if;
    perform case (p_wanted ->> 'paused')::boolean when true then howdah.pause_link(p_name)
        else howdah.resume_link(p_name) end
    where p_wanted -> 'paused' is distinct from coalesce(p_is -> 'paused', 'false');
end
$$;
