"""Translate the database's hints: they name SQL functions, and a user of the command line needs commands."""

from __future__ import annotations

import re

#: Function to command; with its arguments where they decide it.
COMMANDS = {
    "alter_alias": "howdah alias alter ALIAS -o KEY=VALUE",
    "alter_engine": "howdah engine alter -o KEY=VALUE",
    "alter_link": "howdah link alter NAME",
    "alter_listener": "howdah listener alter LISTENER -o KEY=VALUE",
    "alter_object": "howdah object set NAME KEY=VALUE",
    "alter_object(name, read_only => false)": "howdah object set NAME --writable",
    "alter_queue": "howdah queue alter QUEUE -o KEY=VALUE",
    "alter_service": "howdah service alter SERVICE -o KEY=VALUE",
    "alter_topic": "howdah topic alter TOPIC -o KEY=VALUE",
    "backup_changes": "howdah changes backup FILE",
    "begin_import": "howdah import activemq --from DSN",
    "browse": "howdah browse QUEUE",
    "browse_kept": "howdah kept list QUEUE",
    "change_master": "howdah cluster changemaster NAME",
    "cluster_settings": "howdah cluster show",
    "create_link": "howdah link create NAME --from QUEUE --to QUEUE --service SERVICE",
    "create_listener": "howdah listener create LISTENER QUEUE",
    "create_queue": "howdah queue create QUEUE",
    "create_rule_set": "howdah access create-set SET",
    "create_topic": "howdah topic create TOPIC",
    "drop_listener": "howdah listener drop LISTENER",
    "drop_queue": "howdah queue drop QUEUE",
    "drop_topic": "howdah topic drop TOPIC",
    "explain_access": "howdah access explain ROLE OPERATION NAME",
    "finish_import": "howdah import activemq --from DSN --final",
    "export_objects": "howdah object export",
    "import_rules": "howdah access import FILE",
    "incidents": "howdah poison causes --queue QUEUE",
    "list_aliases": "howdah alias list",
    "list_archive_runs": "howdah archive list",
    "list_arrivals": "howdah link arrivals",
    "list_acts": "howdah poison acts",
    "list_changes": "howdah changes list",
    "list_delayed": "howdah queue delayed QUEUE",
    "list_grants": "howdah access show",
    "list_instances": "howdah instance list",
    "list_imports": "howdah import list",
    "list_links": "howdah link list",
    "list_listeners": "howdah listener list",
    "list_objects": "howdah object list",
    "list_poison": "howdah poison list",
    "list_queues": "howdah queue list",
    "list_rule_sets": "howdah access sets",
    "list_schedules": "howdah schedule list",
    "list_services": "howdah service list",
    "list_subscriptions": "howdah subscription list",
    "list_topics": "howdah topic list",
    "list_transactions": "howdah transactions list",
    "move_all": "howdah queue move QUEUE TARGET",
    "new_engine_id": "howdah link new-engine-id",
    "pause_link": "howdah link pause NAME",
    "poison_message": "howdah poison show MESSAGE_ID",
    "purge_queue": "howdah queue purge QUEUE",
    "queue_options": "howdah queue show QUEUE",
    "rebase_link": "howdah link rebase NAME",
    "replay": "howdah poison replay --id MESSAGE_ID --target QUEUE",
    "resource_state": "howdah engine show",
    "resume": "howdah queue resume QUEUE",
    "resume(subscription)": "howdah subscription resume SUBSCRIPTION",
    "resume_engine": "howdah engine resume",
    "resume_schedule": "howdah schedule resume NUMBER",
    "retry": "howdah poison retry --id MESSAGE_ID",
    "set_cluster": "howdah cluster mode MODE",
    "set_rule": "howdah access set RULE ROLE",
    "subscribe": "howdah subscription create TOPIC NAME",
    "topic_history": "howdah topic history TOPIC",
    "unsubscribe": "howdah subscription drop SUBSCRIPTION",
}

# With its arguments or by its bare name. Arguments that contain parentheses stay: the pattern would cut them in half.
_CALL = re.compile(r"\bhowdah\.([a-z_]+)\b(?:\(([^()]*)\)|(?!\())")

_FLAG = re.compile(r"\b(again|force|replace|shared) => true\b")
"""Arguments that commands have as options of the same name."""


def in_commands(text: str) -> str:
    """Replace each SQL function in the text, called or only named, by the command that does the same."""
    text = _FLAG.sub(r"--\1", text)
    return _CALL.sub(lambda call: COMMANDS.get(f"{call[1]}({call[2]})") or COMMANDS.get(call[1]) or call[0], text)
