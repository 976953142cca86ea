"""The columns of the record of changes and of instances."""

CHANGE_COLUMNS = "change_id, act_id, at, actor, kind, name, act, before, after, reason, undoes"
RECORD_COLUMNS = 'change_id, at, actor, kind, name, act, before, after, reason, undoes, "position"'
READ_COLUMNS = "change_id, at, actor, kind, name, act, before, after"
INSTANCE_COLUMNS = (
    "name, state, waits_for, master, holder, workers, consumers, last_change, unread, missed, host, pid, version,"
    " settings, registered_as, quiesced_by, started_at, silent_for, instance_id"
)
