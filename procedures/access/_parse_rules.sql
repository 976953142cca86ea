-- howdah._parse_rules(p_text): the rules of a text in the syntax of properties, the last of several with one key.
--
-- Returns  one row per rule.
-- Raises   HD005 a line is no rule; the message has its number.
-- Role     internal
create or replace function howdah._parse_rules(p_text text) returns table (
    resource text, name text, operation text, allow boolean, kind text, principals text[]
)
language plpgsql stable
as $$
declare
    v_line record;
    v_key text;
    v_parts text[];
    v_rules jsonb := '{}';
begin
    for v_line in select l.line, l.content from howdah._rule_lines(p_text) l loop
        v_key := rtrim(substring(v_line.content from E'^((?:[^\\\\=]|\\\\.)+)='));
        v_key := regexp_replace(v_key, E'\\\\(.)', E'\\1', 'g');
        v_parts := regexp_match(v_key, '^(connection)[.](NORMAL|ADMIN)()[.](allow|deny)[.](user|group)$');
        if v_parts is null then
            v_parts := regexp_match(v_key, '^(queue|topic)[.](?:(.+)[.])?(produce|consume|browse|create|admin|pass_all|'
                'set_all)[.](allow|deny)[.](user|group)$');
        end if;
        resource := v_parts[1];
        name := v_parts[2];
        operation := coalesce(nullif(v_parts[3], ''), 'connect');
        if name is null and operation = 'create' then
            name := '*';
        end if;
        allow := v_parts[4] = 'allow';
        kind := v_parts[5];
        principals := array(
            select regexp_replace(p.name[1], E'\\\\(.)', E'\\1', 'g')
            from (select regexp_match(t.part[1], E'^[ \t\f]*((?:[^\\\\]|\\\\.)*?)[ \t\f]*$') as name
                  from regexp_matches(substring(v_line.content from E'^(?:[^\\\\=]|\\\\.)+=(.*)$'),
                      E'((?:[^\\\\,]|\\\\.)+)',
                      'g') t(part)) p
            where p.name[1] <> '');
        if resource is null or name is null or principals = '{}' then
            raise exception using errcode = 'HD005',
                message = format('line %s is no access rule: %s', v_line.line, left(v_line.content, 100)),
                hint = 'For example queue.q1.produce.deny.user=tom,ann or connection.ADMIN.allow.group=admin.';
        end if;
        begin
            perform howdah._check_rule(resource, name, operation, allow, kind, principals);
        exception when sqlstate 'HD005' or sqlstate 'HD003' then
            raise exception using errcode = 'HD005', message = format('line %s: %s', v_line.line, sqlerrm);
        end;
        v_key := howdah._rule_key(resource, name, operation, allow, kind);  -- queue.create is queue.*.create
        v_rules := v_rules || jsonb_build_object(v_key, jsonb_build_object('resource', resource, 'name', name,
            'operation', operation, 'allow', allow, 'kind', kind, 'principals', principals));
    end loop;
    return query select r.* from jsonb_each(v_rules) o cross join lateral jsonb_to_record(o.value)
        r(resource text, name text, operation text, allow boolean, kind text, principals text[]);
end
$$;
