-- pgmq._stored_headers(p_headers): the headers of a message as howdah stores them.
--
-- Returns  jsonb: an object, or NULL.
-- Role     internal
--
-- pgmq takes any JSON. All other readers expect an object: an audit removes keys, and fails for a number. So anything
-- else is stored inside an object. PostgreSQL inlines this. It would not if this were IMMUTABLE, since
-- jsonb_build_object is not.
create or replace function pgmq._stored_headers(p_headers jsonb) returns jsonb
language sql stable
as $$
    select case when jsonb_typeof(p_headers) <> 'object' or p_headers ? 'pgmq_headers'
        then jsonb_build_object('pgmq_headers', p_headers) else p_headers end
$$;

create or replace function pgmq._stored_headers(p_headers jsonb[]) returns jsonb[]
language sql stable
as $$
    select array_agg(pgmq._stored_headers(h.headers) order by h.n) from unnest(p_headers) with ordinality h(headers, n)
$$;
