-- howdah._check_subscription(p_name, …): refuse arguments that cannot define a subscription.
--
-- Raises   HD003 bad name or client id; HD004 wrong option; HD005 the arguments contradict each other.
-- Role     internal
create or replace function howdah._check_subscription(
    p_name text, p_client_id text, p_shared boolean, p_durable boolean, p_no_local boolean, p_options jsonb
) returns void
language plpgsql volatile
as $$
declare
    v_wrong text := case
        when p_client_id is null or p_shared is null or p_durable is null or p_no_local is null
            then 'client_id, shared, durable and no_local cannot be NULL'
        when p_name is null and p_durable then 'a durable subscription needs a name'
        when p_name is null and p_shared then 'a shared subscription needs a name'
        when p_no_local and p_shared then 'no_local does not go with a shared subscription'
        when p_no_local and p_client_id = '' then 'no_local needs a client_id'
    end;
begin
    if p_name !~ '^[A-Za-z0-9_.-]{1,200}$' or p_client_id !~ '^[A-Za-z0-9_.-]{0,200}$' then
        raise exception using errcode = 'HD003', message = 'bad name or client id of a subscription',
            hint = 'They have up to 200 characters out of A-Z a-z 0-9 . _ -';
    elsif v_wrong is not null then
        raise exception using errcode = 'HD005', message = v_wrong,
            hint = 'See docs/topics.md for the kinds of subscription.';
    end if;
    perform howdah._check_subscription_options(p_options);
end
$$;
