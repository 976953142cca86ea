-- howdah._commit_needs(p_level, p_message_id): note that the transaction sent or received a message of this level. The
-- commit then waits as long as the highest level needs, if the caller said howdah.commit_by_reliability.
--
-- Returns  p_message_id (bigint), so that an INSERT can call it in RETURNING.
-- Raises   HD005 howdah.commit_by_reliability is neither on nor off.
-- Role     internal
--
-- p_level is 0 to 4, or NULL to note nothing. Up to 3 (reliable persistent), the commit is asynchronous. With 4
-- (assured) it waits as the caller had set it; what was off becomes on. Without the setting nothing changes.
--
-- howdah.commit_state holds the caller's own synchronous_commit, the highest level, and what this function set last. If
-- synchronous_commit differs from the last, the caller set it since, and it is the caller's own. All are settings of
-- the transaction, so ROLLBACK TO SAVEPOINT takes back what the messages after the savepoint needed.
create or replace function howdah._commit_needs(p_level integer, p_message_id bigint default null) returns bigint
language plpgsql volatile
as $$
declare
    v_word text := lower(current_setting('howdah.commit_by_reliability', true));
    v_state text[] := string_to_array(current_setting('howdah.commit_state', true), ' ');
    v_now text := current_setting('synchronous_commit');
    v_own text := v_state[1];
    v_level integer := greatest(v_state[2]::integer, p_level, -1);
    v_wanted text;
begin
    if v_word in ('off', 'false', 'no', '0') then
        if cardinality(v_state) > 0 then
            perform set_config('synchronous_commit', v_own, true), set_config('howdah.commit_state', '', true);
        end if;
        return p_message_id;
    elsif v_word not in ('', 'on', 'true', 'yes', '1') then
        raise exception using errcode = 'HD005',
            message = format('howdah.commit_by_reliability is on or off, not %s', quote_literal(left(v_word, 60)));
    elsif coalesce(v_word, '') = '' and coalesce(cardinality(v_state), 0) = 0 then
        return p_message_id;
    end if;
    if v_own is null or v_now <> v_state[3] then
        v_own := v_now;
    end if;
    v_wanted := case when v_level < 0 then v_own when v_level <= 3 then 'off' when v_own = 'off' then 'on'
        else v_own end;
    if v_wanted <> v_now then
        perform set_config('synchronous_commit', v_wanted, true);
    end if;
    if v_state is distinct from array[v_own, v_level::text, v_wanted] then
        perform set_config('howdah.commit_state', concat_ws(' ', v_own, v_level, v_wanted), true);
    end if;
    return p_message_id;
end
$$;
