-- howdah._link_batch(p_source, p_want, p_selector, p_transformation): receive what a link forwards next, up to about 8
-- MB.
--
-- Returns  howdah.message[], in the order of receives; empty if there is nothing.
-- Raises   as howdah.receive.
-- Role     internal
--
-- It takes one message, then as many as howdah._link_chunk finds room for, and so on. So a batch of large ones ends
-- early. It takes eight times as many each time from a subscription, while messages as large as the largest so far fit.
create or replace function howdah._link_batch(
    p_source text, p_want integer, p_selector text, p_transformation text
) returns howdah.message[]
language plpgsql volatile
as $$
declare
    v_room constant bigint := 8000000;
    v_queue integer := (select d.id from howdah.destinations d
        where d.name = p_source and d.kind = 'queue' and d.dropped_at is null);
    v_messages howdah.message[] := '{}';
    v_more howdah.message[];
    v_chunk integer := 1;
    v_bytes bigint := 0;
    v_new bigint;
    v_largest bigint := 1;
begin
    while cardinality(v_messages) < p_want and v_bytes < v_room loop
        v_chunk := least(v_chunk, p_want - cardinality(v_messages));
        select array_agg(r), coalesce(sum(b.bytes), 0), greatest(max(b.bytes), v_largest)
        into v_more, v_new, v_largest
        from howdah._link_receive(p_source, v_chunk, p_selector, p_transformation) r
        cross join lateral (
            select octet_length(coalesce(r.body, '')) + octet_length(coalesce(r.bytes, '')) as bytes) b;
        exit when v_more is null;
        v_messages := v_messages || v_more;
        v_bytes := v_bytes + v_new;
        exit when cardinality(v_more) < v_chunk;
        v_chunk := case when v_queue is null
            then greatest(least(v_chunk * 8, (v_room - v_bytes) / v_largest), 1)
            else howdah._link_chunk(v_queue, v_more[cardinality(v_more)], p_want, greatest(v_room - v_bytes, 0)) end;
    end loop;
    return v_messages;
end
$$;
