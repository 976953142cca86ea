"""A module that does not import."""

raise RuntimeError("half written")
