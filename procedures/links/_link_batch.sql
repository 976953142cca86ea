-- howdah._link_batch(p_source, p_want, p_selector): receive what a link forwards next, up to about 8 MB.
--
-- Returns  howdah.message[], in the order of receives; empty if there is nothing.
-- Raises   as howdah.receive.
-- Role     internal
--
-- It takes one message, then eight times as many at a time, so that a batch of large ones ends early.
create or replace function howdah._link_batch(p_source text, p_want integer, p_selector text) returns howdah.message[]
language plpgsql volatile
as $$
declare
    v_messages howdah.message[] := '{}';
    v_more howdah.message[];
    v_chunk integer := 1;
    v_bytes bigint := 0;
begin
    while cardinality(v_messages) < p_want and v_bytes < 8000000 loop
        v_chunk := least(v_chunk, p_want - cardinality(v_messages));
        select array_agg(r), coalesce(sum(octet_length(coalesce(r.body, '')) + octet_length(coalesce(r.bytes, ''))), 0)
        into v_more, v_bytes
        from howdah.receive(p_source, v_chunk, false, p_selector) r;
        exit when v_more is null;
        v_messages := v_messages || v_more;
        exit when cardinality(v_more) < v_chunk;
        v_bytes := v_bytes * 8;  -- what the next chunk would have
        v_chunk := v_chunk * 8;
    end loop;
    return v_messages;
end
$$;
