-- howdah.undo_change(change, again): take back what an administrator changed.
--
-- Returns  the number of the change that takes it back (bigint); NULL if nothing had to be changed.
-- Raises   HD005 there is no such change; HD011 what was made holds messages, or a topic has subscriptions; HD045 it
--          was changed since, it cannot be taken back, or the master of changes is away; HD001, HD002, HD003, HD004,
--          HD010, HD012, HD020, HD021, HD023, HD024, HD025, HD027, HD029, HD040, HD041, HD042, HD044, HD047, HD048,
--          HD049 as the verbs that it calls.
-- Role     howdah_admin
--
-- A thing that was made is dropped, if that loses no message. One that was altered gets its properties of before, and
-- what was dropped is made anew, with its rights. Messages do not come back. again: also if it was changed since.
-- Undoing is a change, and can be undone.
create or replace function howdah.undo_change(change bigint, again boolean default false) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_change howdah.config_changes;
    v_is jsonb;
    v_last bigint;
begin
    perform howdah._refuse_maintenance();
    select c.* into v_change from howdah.config_changes c where c.change_id = change;
    if not found then
        raise exception using errcode = 'HD005', message = format('there is no change %s',
            coalesce(change::text, 'NULL')),
            hint = 'See howdah.list_changes().';
    end if;
    if v_change.kind in ('user', 'cluster', 'instance', 'lock') then
        raise exception using errcode = 'HD045',
            message = format('changes of kind %s cannot be taken back', v_change.kind),
            hint = 'Make the change that you want with its own verb.';
    end if;
    v_is := case when v_change.kind = 'schedule' then v_change.after
        else howdah._properties(v_change.kind, v_change.name) end;
    if again is not true and v_change.kind <> 'schedule' and v_is is distinct from v_change.after then
        raise exception using errcode = 'HD045',
            message = format('%s %s was changed since', v_change.kind, quote_literal(v_change.name)),
            hint = 'Look at howdah.list_changes(kind, name). To restore its earlier '
                'properties anyway, pass again => true.';
    end if;
    v_last := coalesce((select max(c.change_id) from howdah.config_changes c), 0);
    if v_change.kind = 'schedule' then
        perform howdah._apply_other('schedule', v_change.name, v_is, v_change.before);
    else
        perform howdah._apply(v_change.kind, v_change.name, v_change.before);
    end if;
    update howdah.config_changes c set undoes = change
    where c.transaction = pg_current_xact_id()::text::bigint and c.change_id > v_last;
    return (select max(c.change_id) from howdah.config_changes c where c.undoes = change and c.change_id > v_last);
end
$$;
