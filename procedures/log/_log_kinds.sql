-- howdah._log_kinds(): the events that the SQL side logs.
--
-- Returns  event, its level (ERROR, WARNING or INFO), and its text for people.
-- Role     internal
create or replace function howdah._log_kinds() returns table (event text, level text, text text)
language sql immutable
as $$
    values
        ('QUEUE_DISABLED', 'ERROR', 'queue disabled'),
        ('LISTENER_STOPPED', 'ERROR', 'listener stopped by failures'),
        ('POISON_PROCEDURE_FAILED', 'ERROR', 'poison procedure failed'),
        ('MESSAGE_DEAD', 'WARNING', 'message reached its limit'),
        ('LIMIT_REACHED', 'WARNING', 'queue is full'),
        ('LIMIT_LEFT', 'INFO', 'queue has room again'),
        ('RESOURCE_STATE', 'WARNING', 'resource state changed'),
        ('SUBSCRIPTION_BEHIND', 'WARNING', 'subscription falls behind'),
        ('SUBSCRIPTION_DROPPED', 'WARNING', 'subscription dropped, too far behind'),
        ('BACKLOG_DROPPED', 'WARNING', 'backlog dropped, too far behind'),
        ('SLOW_CONSUMER', 'WARNING', 'slow consumer'),
        ('LINK_AWAY', 'WARNING', 'target of a link is away'),
        ('LINK_BACK', 'INFO', 'target of a link is back'),
        ('LINK_REFUSED', 'WARNING', 'target of a link refused messages'),
        ('ENGINE_STATE', 'INFO', 'state of the engine changed'),
        ('NONPERSISTENT_LOST', 'WARNING', 'non-persistent messages lost')
$$;
