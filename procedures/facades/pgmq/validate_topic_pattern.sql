-- pgmq.validate_topic_pattern(pattern): refuse a text that is no pattern of routing keys.
--
-- Returns  true.
-- Raises   P0001 it is NULL, empty or too long; it has other characters than letters, digits, dots, hyphens,
--          underscores and wildcards; it has an empty part, or two wildcards side by side.
-- Role     everybody
--
-- The wildcard * is one part, and # any number of parts.
create or replace function pgmq.validate_topic_pattern(pattern text) returns boolean
language plpgsql immutable
as $$
begin
    if pattern is null or pattern = '' then
        raise exception 'pattern cannot be NULL or empty';
    elsif length(pattern) > 255 then
        raise exception 'pattern length cannot exceed 255 characters, got % characters', length(pattern);
    elsif pattern !~ '^[a-zA-Z0-9._*#-]+$' then
        raise exception using message = format('pattern contains invalid characters. Only alphanumeric, dots, hyphens,'
            ' underscores, *, and # are allowed. Got: %s', pattern);
    elsif pattern ^@ '.' then
        raise exception 'pattern cannot start with a dot. Got: %', pattern;
    elsif right(pattern, 1) = '.' then
        raise exception 'pattern cannot end with a dot. Got: %', pattern;
    elsif strpos(pattern, '..') > 0 then
        raise exception 'pattern cannot contain consecutive dots. Got: %', pattern;
    elsif strpos(pattern, '**') > 0 then
        raise exception using message = format('pattern cannot contain consecutive stars (**).'
            ' Use # for multi-segment matching. Got: %s', pattern);
    elsif strpos(pattern, '##') > 0 then
        raise exception using message = format('pattern cannot contain consecutive hashes (##).'
            ' A single # already matches zero or more segments. Got: %s', pattern);
    elsif strpos(pattern, '*#') > 0 or strpos(pattern, '#*') > 0 then
        raise exception using message = format('pattern cannot contain adjacent wildcards (*# or #*).'
            ' Separate wildcards with dots. Got: %s', pattern);
    end if;
    return true;
end
$$;
