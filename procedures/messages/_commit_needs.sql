-- howdah._commit_needs(p_level, p_message_id): note that the transaction sent or received a message of this level. The
-- commit then waits as long as the highest level needs, if the caller said howdah.commit_by_reliability.
--
-- Returns  p_message_id (bigint), so that a caller can return it.
-- Role     internal
--
-- p_level is 0 to 4. Up to 3 (reliable persistent), the commit is asynchronous. With 4 (assured) it waits as the
-- caller's setting says, but off becomes on.
--
-- PostgreSQL puts this expression in place of the call, which saves 20 us. In RETURNING it would cost each INSERT 8 us,
-- called or not, because every statement prepares its expressions anew. It knows the first message of a transaction,
-- and a further one that changes nothing. howdah._change_commit does the rest, and says what howdah.commit_state is.
create or replace function howdah._commit_needs(p_level integer, p_message_id bigint default null) returns bigint
language sql volatile
as $$
    select case
        when current_setting('howdah.commit_state', true) = 'on 3 off' and p_level <= 3
             and current_setting('synchronous_commit') = 'off'
             and current_setting('howdah.commit_by_reliability', true) in ('on', '')
          or current_setting('howdah.commit_state', true) = 'on 4 on' and current_setting('synchronous_commit') = 'on'
        then p_message_id
        when coalesce(current_setting('howdah.commit_state', true), '') = '' and p_level <= 3
             and current_setting('howdah.commit_by_reliability', true) = 'on'
        then case when set_config('howdah.commit_state', current_setting('synchronous_commit') || ' 3 off', true)
            || set_config('synchronous_commit', 'off', true) <> '' then p_message_id end
        when coalesce(current_setting('howdah.commit_state', true), '') = '' and p_level = 4
             and current_setting('howdah.commit_by_reliability', true) = 'on'
             and current_setting('synchronous_commit') = 'on'
        then case when set_config('howdah.commit_state', 'on 4 on', true) <> '' then p_message_id end
        else howdah._change_commit(p_level, p_message_id) end
$$;
