-- howdah._check_act(p_act, p_reason, p_batch, p_options): refuse an incomplete or wrong act on all messages that match.
--
-- Raises   HD005 no such act, no reason, a wrong batch or a wrong option.
-- Role     internal
create or replace function howdah._check_act(p_act text, p_reason text, p_batch integer, p_options jsonb) returns void
language plpgsql stable
as $$
declare
    v_allowed text[] := case p_act when 'move' then '{target,after}' when 'replay' then '{target,after}'
        when 'park' then '{until,delay,after}' when 'retry' then '{after}' when 'discard' then '{after}' end;
    v_other text;
begin
    if v_allowed is null then
        raise exception using errcode = 'HD005',
            message = format('there is no act %s', coalesce(quote_literal(left(p_act, 100)), 'NULL')),
            hint = 'Acts are retry, replay, move, park and discard.';
    elsif coalesce(p_reason, '') !~ '[^[:space:]]' then
        raise exception using errcode = 'HD005', message = 'an act on all that match needs a reason',
            hint = 'howdah.list_acts() shows it to those who ask later.';
    elsif p_batch is null or p_batch not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('batch must be 1 to 10000, not %s', coalesce(p_batch::text, 'NULL'));
    elsif p_options is null or jsonb_typeof(p_options) <> 'object' then
        raise exception using errcode = 'HD005', message = 'options must be a JSON object';
    elsif p_act = 'move' and p_options ->> 'target' is null then
        raise exception using errcode = 'HD005', message = 'option target is missing',
            hint = 'Name the queue that the messages go to.';
    end if;
    begin
        perform (p_options ->> 'until')::timestamptz, (p_options ->> 'delay')::interval;
    exception when data_exception then
        raise exception using errcode = 'HD005', message = 'until must be a time, and delay a length of time',
            hint = 'For example {"until": "2026-01-31T06:00:00Z"} or {"delay": "1 hour"}.';
    end;
    v_other := (select min(k.key) from jsonb_object_keys(p_options) k(key) where k.key <> all (v_allowed));
    if v_other is not null then
        raise exception using errcode = 'HD005',
            message = format('act %s has no option %s', p_act, quote_literal(left(v_other, 100))),
            hint = 'It has ' || array_to_string(v_allowed, ', ') || '.';
    end if;
end
$$;
