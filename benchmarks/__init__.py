"""Speed, measured: Howdah beside the bare statements it consists of, and beside its peers, in turn on one durable server."""
