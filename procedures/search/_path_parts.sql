-- howdah._path_parts(p_path): the parts of a JSON path that a redaction rule may have.
--
-- Returns  text[]: names, numbers of elements, and * for any; empty for the whole body ($). NULL: it is no such path.
-- Role     internal
create or replace function howdah._path_parts(p_path text) returns text[]
language sql immutable
as $$
    select case
        when p_path = '$' then '{}'::text[]
        when length(p_path) <= 1000 and p_path ~ '^[$]([.]([A-Za-z0-9_-]+|[*])|[[]([0-9]+|[*])[]]){1,20}$'
            then regexp_split_to_array(regexp_replace(substr(p_path, 3), '[]]', '', 'g'), '[.[]')
        end
$$;
