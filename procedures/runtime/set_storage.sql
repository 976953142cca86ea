-- howdah.set_storage(options, tables): set PostgreSQL's storage parameters for the tables that hold messages.
--
-- Returns  nothing. options is a JSON object; null resets a parameter. tables NULL: msgs, msgs_nonpersistent, parked,
--          leased and bodies.
-- Raises   HD004 a parameter is unknown or wrong, or a table is not one of these; HD010 called from a maintenance
--          command; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- The parameters are fillfactor and those of autovacuum_… in PostgreSQL's CREATE TABLE. They decide how soon the space
-- of consumed messages is used again, and how hard vacuum works. The call waits for a running vacuum of the table, not
-- for sends and receives.
create or replace function howdah.set_storage(options jsonb, tables text[] default null) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set lock_timeout = '5s'
as $$
declare
    v_known constant text[] := array['fillfactor', 'autovacuum_enabled', 'autovacuum_vacuum_threshold',
        'autovacuum_vacuum_scale_factor',
        'autovacuum_vacuum_insert_threshold', 'autovacuum_vacuum_insert_scale_factor', 'autovacuum_vacuum_cost_delay',
        'autovacuum_vacuum_cost_limit', 'autovacuum_analyze_threshold', 'autovacuum_analyze_scale_factor',
        'autovacuum_freeze_min_age',
        'autovacuum_freeze_max_age', 'vacuum_truncate'];
    v_hot constant text[] := array['msgs', 'msgs_nonpersistent', 'parked', 'leased', 'bodies'];
    v_option record;
    v_table text;
    v_before jsonb;
begin
    if options is null or jsonb_typeof(options) <> 'object' or not v_hot @> coalesce(tables, v_hot)
       or exists (select from jsonb_object_keys(options) k where k <> all (v_known)) then
        raise exception using errcode = 'HD004', message = 'options or tables has a name that is unknown here',
            hint = format('Options are a JSON object of these parameters: %s. Tables are: %s.',
                array_to_string(v_known, ', '), array_to_string(v_hot, ', '));
    end if;
    foreach v_table in array coalesce(tables, v_hot) loop
        v_before := howdah._properties('storage', v_table);
        for v_option in select o.key, o.value #>> '{}' as value from jsonb_each(options) o loop
            if v_option.value is null then
                execute format('alter table howdah.%I reset (%I)', v_table, v_option.key);
            else
                execute format('alter table howdah.%I set (%I = %L)', v_table, v_option.key, v_option.value);
            end if;
        end loop;
        perform howdah._record_change('storage', v_table, 'altered', v_before, howdah._properties('storage', v_table));
    end loop;
exception when invalid_parameter_value then
    raise exception using errcode = 'HD004', message = sqlerrm,
        hint = 'See PostgreSQL''s storage parameters of CREATE TABLE.';
end
$$;
