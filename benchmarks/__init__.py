"""Measure speed: Howdah beside its bare statements and beside its peers, in turn on one durable server."""
