-- howdah._check_cluster(): refuse to read or write by another cluster's transaction ids after a restore.
--
-- Raises   HD025 the database was restored into another cluster.
-- Role     internal
--
-- It is checked once after each start of the server, because pg_control_system() reads a file.
create or replace function howdah._check_cluster() returns void
language plpgsql volatile
as $$
declare
    v_boot bigint := howdah._boot_ms();
begin
    if pg_sequence_last_value('howdah.topic_checked'::regclass) = v_boot then
        return;
    end if;
    if (select e.system_identifier <> c.system_identifier from howdah.engine e cross join pg_control_system() c) then
        raise exception using errcode = 'HD025',
            message = 'this database was restored into another cluster: the cursors of its topics do not fit',
            hint = 'An administrator calls howdah.rebase_topics() once, before anybody publishes or receives.';
    end if;
    if current_setting('transaction_read_only') = 'off' then
        perform setval('howdah.topic_checked'::regclass, v_boot);
    end if;
end
$$;
