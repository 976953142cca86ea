-- howdah.create_link(name, source, target_queue, …): create a link, which forwards messages to a queue of another
-- engine.
--
-- Returns  the link's identity (uuid), by which the other engine knows it.
-- Raises   HD001 there is no such queue or subscription; HD003 bad name; HD005 wrong argument; HD010 not allowed; HD023
--          the selector is invalid; HD042 a link of that name exists already; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- source is a queue or a subscription here, target_queue a queue or topic there. service is a service of
-- pg_service.conf, dsn_env an environment variable with a DSN, where the forwarder runs. No password is stored here.
--
-- selector: forward only the messages that it selects; the others stay. batch_size: the most messages at a time.
-- retry_ms_max: the longest pause between two attempts while the target is away.
-- transformation: forward messages as it makes them (howdah.register_transformation).
--
-- A worker process or howdah link run forwards. Each message arrives exactly once, whatever breaks on the way.
create or replace function howdah.create_link(
    name text, source text, target_queue text, service text default null, dsn_env text default null,
    selector text default null, batch_size integer default 1000, retry_ms_max integer default 30000,
    transformation text default null
) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_link howdah.links;
begin
    v_link.source_id := (howdah._queue(source, 'admin')).id;
    v_link.link_id := gen_random_uuid();
    v_link.engine_id := howdah._engine_id();
    v_link.name := create_link.name;
    v_link.target_queue := create_link.target_queue;
    v_link.service := nullif(create_link.service, '');
    v_link.dsn_env := nullif(create_link.dsn_env, '');
    v_link.selector := nullif(btrim(create_link.selector), '');
    v_link.batch_size := create_link.batch_size;
    v_link.retry_ms_max := create_link.retry_ms_max;
    v_link.transformation := howdah._transformation(create_link.transformation);
    perform howdah._check_link(v_link);
    insert into howdah.links (link_id, engine_id, created_at, source_id, batch_size, retry_ms_max, name, target_queue,
        selector, service, dsn_env, created_by, transformation)
    values (v_link.link_id, v_link.engine_id, howdah.now(), v_link.source_id, v_link.batch_size, v_link.retry_ms_max,
        v_link.name, v_link.target_queue, v_link.selector, v_link.service, v_link.dsn_env, howdah._caller(),
        v_link.transformation)
    on conflict do nothing;
    if not found then
        raise exception using errcode = 'HD042', message = format('there is a link %s', quote_literal(v_link.name)),
            hint = 'Change it with howdah.alter_link(name, …), or drop it.';
    end if;
    perform howdah._record_change('link', v_link.name, 'created', null, howdah._properties('link', v_link.name));
    return v_link.link_id;
end
$$;
