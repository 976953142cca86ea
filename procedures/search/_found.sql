-- howdah._found(p_destination, p_filter, p_after, p_max, p_bound, p_places, p_paths): walk over messages and tell which
-- match.
--
-- Returns  the matching messages, at most p_max; then one row without message_id that tells how far it looked. cursor:
--          where to go on. looked: rows looked at so far. complete: it came to the end.
-- Raises   HD001 there never was a queue origin; HD023 the selector is invalid.
-- Role     internal
--
-- It looks at p_bound rows at most. It also ends after 32 MB of bodies. It reads bodies only for a filter by body (as
-- p_paths leave them), and for matches when p_places is NULL.
create or replace function howdah._found(
    p_destination howdah.destinations, p_filter jsonb, p_after jsonb, p_max bigint, p_bound bigint,
    p_places integer[], p_paths text[]
) returns table (
    message_id bigint, state text, rank smallint, key bigint, place integer, sent_at timestamptz, message_group text,
    stage smallint, conversation_id uuid, headers jsonb, is_text boolean, content_type text, body text,
    origin_id integer, cursor jsonb, looked bigint, complete boolean
)
language plpgsql stable set enable_seqscan = off set enable_sort = off set jit = off
as $$
#variable_conflict use_column
declare
    v_most_bytes constant bigint := 32 * 1024 * 1024;
    v_selector text := howdah._compile_selector(p_filter ->> 'selector');
    v_origin integer := howdah._origin_id(p_filter ->> 'origin');
    v_state text := p_filter ->> 'state';
    v_text text := p_filter ->> 'body';
    v_rank smallint := coalesce((p_after ->> 'rank')::smallint, -1);
    v_key bigint := coalesce((p_after ->> 'key')::bigint, -1);
    v_first integer := coalesce((p_after ->> 'place')::integer, 1);
    v_before bigint;
    v_bytes bigint := 0;
    v_hits bigint := 0;
    v_row record;
    v_body bytea;
    v_wild boolean := p_places is null and howdah._reads_wildcard(p_destination);
begin
    looked := 0;
    cursor := p_after;
    for place in
        select p.p from unnest(coalesce(p_places, case when v_state in ('delayed', 'parked') then '{3}'
            when v_state = 'leased' then '{3,4}' else '{1,2,3,4}' end::integer[])) p(p)
        where p.p >= v_first order by 1
    loop
        if place > v_first then
            v_rank := -1;
            v_key := -1;
        end if;
        v_before := looked;
        for v_row in execute howdah._found_sql(place, v_selector)
            using p_destination.id, v_rank, v_key, p_bound - looked,
                9 - coalesce((p_filter ->> 'min_priority')::integer, 0), v_state, left(p_filter ->> 'group', 500),
                (p_filter ->> 'sent_after')::timestamptz,
                (p_filter ->> 'sent_before')::timestamptz, v_origin, p_filter -> 'header', p_filter ->> 'cause',
                p_filter ->> 'error_class', howdah.now(), p_filter ->> 'trace'
        loop
            looked := v_before + v_row.number;
            cursor := jsonb_build_object('place', place, 'rank', v_row.rank, 'key', v_row.key);
            body := null;
            if v_wild and v_row.hit then
                v_row.hit := howdah._may_read_copy(v_row.message_id, 'browse');
            end if;
            if v_row.hit and (v_text is not null or p_places is null) then
                v_body := coalesce(v_row.body, howdah._body(v_row.message_id));
                v_bytes := v_bytes + octet_length(v_body);
                body := howdah._redacted_text(v_body, v_row.is_text, case
                    when v_row.origin_id is null and v_row.message_id % 1000000 = p_destination.id then p_paths
                    else howdah._redaction_paths(p_destination.name, howdah._destination_name(v_row.origin_id),
                        v_row.message_id) end);
            end if;
            if v_row.hit and (v_text is null or strpos(body, v_text) > 0) then
                v_hits := v_hits + 1;
                message_id := v_row.message_id;
                state := v_row.state;
                rank := v_row.rank;
                key := v_row.key;
                sent_at := v_row.sent_at;
                message_group := v_row.message_group;
                stage := v_row.stage;
                conversation_id := v_row.conversation_id;
                headers := v_row.headers;
                is_text := v_row.is_text;
                content_type := v_row.content_type;
                body := left(body, 500);
                origin_id := v_row.origin_id;
                complete := false;
                return next;
            end if;
            if v_hits = p_max or v_bytes >= v_most_bytes or looked = p_bound then
                return query select null::bigint, null::text, null::smallint, null::bigint, null::integer,
                    null::timestamptz, null::text, null::smallint, null::uuid, null::jsonb, null::boolean, null::text,
                    null::text, null::integer, cursor, looked, false;
                return;
            end if;
        end loop;
    end loop;
    return query select null::bigint, null::text, null::smallint, null::bigint, null::integer, null::timestamptz,
        null::text, null::smallint, null::uuid, null::jsonb, null::boolean, null::text, null::text, null::integer,
        null::jsonb, looked, true;
end
$$;
