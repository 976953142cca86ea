"""The SQL API: one file a verb, installed whole in the order of a message's life."""
