-- howdah._keep_large(p_message_ids, p_bodies): store the large bodies of a batch in howdah.bodies.
--
-- Returns  p_bodies, with NULL in place of the large ones.
-- Role     internal
create or replace function howdah._keep_large(p_message_ids bigint[], p_bodies bytea[]) returns bytea[]
language plpgsql volatile
as $$
begin
    perform howdah._keep_body(b.id, b.body) from unnest(p_message_ids, p_bodies) b(id, body)
    where howdah._is_large(octet_length(b.body));
    return array(
        select case when not howdah._is_large(octet_length(b.body)) then b.body end
        from unnest(p_bodies) with ordinality b(body, n) order by b.n);
end
$$;
