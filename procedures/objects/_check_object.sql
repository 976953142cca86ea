-- howdah._check_object(p_name, p_kind, p_attributes): refuse an administered object that is not valid.
--
-- Raises   HD003 bad name; HD004 an attribute is unknown or wrong; HD005 unknown kind, an attribute is missing, or it
--          holds a password.
-- Role     internal
create or replace function howdah._check_object(p_name text, p_kind text, p_attributes jsonb) returns void
language plpgsql volatile
as $$
declare
    v_families text[] := case when p_kind = 'connection_factory' then array['any', 'factory']
        when p_kind = 'xa_connection_factory' then array['any', 'xa']
        when p_kind in ('queue', 'topic') then array['any', 'destination'] end;
    v_given record;
    v_right boolean;
begin
    if (p_name ~ '^[A-Za-z0-9_][A-Za-z0-9._/-]{0,241}$') is not true then
        raise exception using errcode = 'HD003',
            message = format('bad name of an object %s', coalesce(quote_literal(left(p_name, 250)), 'NULL')),
            hint = 'It has 1 to 242 characters out of A-Z a-z 0-9 . _ - / and begins with a letter, digit or _.';
    elsif v_families is null then
        raise exception using errcode = 'HD005',
            message = format('there is no kind %s of objects', coalesce(quote_literal(left(p_kind, 100)), 'NULL')),
            hint = 'Kinds are connection_factory, xa_connection_factory, queue and topic.';
    elsif jsonb_typeof(p_attributes) is distinct from 'object' then
        raise exception using errcode = 'HD004', message = 'attributes must be a JSON object',
            hint = 'For example {"hosts": ["db1", "db2:5433"], "client_id": "desk7"}.';
    elsif p_attributes::text
        ~* E'"[a-z_]*(pass(?!file)|pwd|secret)[a-z_]*": |\\mpass(word|wd)?\\s*=|://[^/@ "]*:[^/@ "]*@' then
        raise exception using errcode = 'HD005', message = 'an object never holds a password',
            hint = 'Let service name a service of pg_service.conf, or use a passfile.';
    end if;
    for v_given in
        select g.key, g.value, g.value #>> '{}' as text, jsonb_typeof(g.value) as given, a.type, a.lowest, a.highest,
            a.choices
        from jsonb_each(p_attributes) g
        left join howdah._object_attributes() a on a.key = g.key and a.family = any (v_families)
    loop
        if v_given.type is null then
            raise exception using errcode = 'HD004',
                message = format('a %s has no attribute %s', p_kind, quote_literal(left(v_given.key, 100))),
                hint = 'Attributes are: ' || (select string_agg(a.key, ', ') from howdah._object_attributes() a
                    where a.family = any (v_families)) || '.';
        end if;
        v_right := case v_given.type
            when 'integer' then v_given.given = 'number' and v_given.text::numeric % 1 = 0
                and v_given.text::numeric between v_given.lowest and v_given.highest
            when 'boolean' then v_given.given = 'boolean'
            when 'choice' then v_given.given = 'string' and v_given.text = any (v_given.choices)
            when 'text' then v_given.given = 'string' and v_given.text !~ '[[:cntrl:]]'
                and length(v_given.text) between v_given.lowest and v_given.highest
            when 'name' then v_given.given = 'string' and v_given.text ~ '^[A-Za-z0-9_.-]{1,100}$'
            when 'hosts' then howdah._are_words(v_given.value, v_given.highest,
                E'^(/[A-Za-z0-9_./-]{1,200}|[A-Za-z0-9_.-]{1,200}|\\[[0-9A-Fa-f:.]{2,45}\\])(:[0-9]{1,5})?$')
            else howdah._are_words(v_given.value, v_given.highest, '^[A-Za-z0-9_][A-Za-z0-9._/-]{0,241}$') end;
        if not v_right then
            raise exception using errcode = 'HD004',
                message = format('attribute %s cannot be %s', v_given.key, left(v_given.value::text, 100)),
                hint = case v_given.type
                    when 'integer' then format('It is a whole number from %s to %s.', v_given.lowest, v_given.highest)
                    when 'boolean' then 'It is true or false.'
                    when 'choice' then format('It is one of: %s.', array_to_string(v_given.choices, ', '))
                    when 'text' then format('It is a text of %s to %s characters.', v_given.lowest, v_given.highest)
                    when 'hosts' then 'It is an array of hosts, such as ["db1", "db2:5433"].'
                    when 'name' then 'It has 1 to 100 characters out of A-Z a-z 0-9 . _ -'
                    else 'It is an array of names of connection factories.' end;
        end if;
    end loop;
    perform howdah._check_object_whole(p_kind, p_attributes);
end
$$;
