-- howdah._check_subscription_rights(p_options): refuse options by which a subscription would do what the caller may not
-- do.
--
-- Raises   HD001 a queue that they name does not exist; HD010 the caller may not send there, or is no administrator.
-- Role     internal
--
-- Administrators may name any queue, as in howdah.create_queue, even one that is created later.
create or replace function howdah._check_subscription_rights(p_options jsonb) returns void
language plpgsql volatile
as $$
declare
    v_option text;
begin
    if howdah._has_role((select e.admin_role from howdah.engine e)) then
        return;
    end if;
    foreach v_option in array array['journal_level', 'persistent', 'exception_prefix'] loop
        if p_options ? v_option then
            raise exception using errcode = 'HD010',
                message = format('option %s of a subscription is for administrators', v_option),
                hint =
                    'Leave it out, or ask an administrator to set it with howdah.alter_queue(subscription, options).';
        end if;
    end loop;
    foreach v_option in array array['exception_queue', 'log_queue'] loop
        if p_options ->> v_option is not null then
            perform howdah._destination(p_options ->> v_option, 'send');
        end if;
    end loop;
end
$$;
