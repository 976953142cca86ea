"""Sessions with acknowledge modes, as JMS has them: their messages are received ahead, under leases."""
