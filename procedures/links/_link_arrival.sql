-- howdah._link_arrival(p_link_id, …): lock the row of a link that leads here, and check that the arriving batch is its
-- next one.
--
-- Returns  howdah.link_arrivals.
-- Raises   HD010 another role forwards for the link; HD025 one of both engines was set back.
-- Role     internal
--
-- The sender numbers the batches that it commits. A number comes again if the sender did not commit. A lower number
-- means that the sender lost commits. A gap means that this engine did.
create or replace function howdah._link_arrival(
    p_link_id uuid, p_engine_id uuid, p_engine_name text, p_link_name text, p_source text, p_batch bigint
) returns howdah.link_arrivals
language plpgsql volatile
as $$
declare
    v_arrival howdah.link_arrivals;
    v_now constant timestamptz := howdah.now();
begin
    if p_batch = 1 then
        insert into howdah.link_arrivals (link_id, engine_id, batch, created_at, arrived_at, link_name, engine_name,
            source_queue, arrived_as)
        values (p_link_id, p_engine_id, 0, v_now, v_now, p_link_name, p_engine_name, p_source, howdah._caller())
        on conflict do nothing;
    end if;
    select a.* into v_arrival from howdah.link_arrivals a where a.link_id = p_link_id for no key update;
    if v_arrival.arrived_as <> howdah._caller() then
        raise exception using errcode = 'HD010',
            message = format('link %s is forwarded by another role', quote_literal(left(p_link_name, 250))),
            hint = 'Let one role forward, or let the link begin anew with howdah.rebase_link(name) at the sender.';
    elsif p_batch < v_arrival.batch then
        raise exception using errcode = 'HD025',
            message = format('batch %s of link %s comes after batch %s: the sending engine was set back', p_batch,
                quote_literal(left(p_link_name, 250)), v_arrival.batch),
            hint = 'Its queue may hold messages that arrived here. Then call howdah.rebase_link(name) there.';
    elsif p_batch > coalesce(v_arrival.batch, 0) + 1 then
        raise exception using errcode = 'HD025',
            message = format('batch %s of link %s comes after batch %s: this engine was set back, or it is another one',
                p_batch, quote_literal(left(p_link_name, 250)), coalesce(v_arrival.batch, 0)),
            hint = 'Messages that arrived may be missing here. Then call howdah.rebase_link(name) at the sender.';
    end if;
    return v_arrival;
end
$$;
