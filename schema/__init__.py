"""The tables, as SQLAlchemy metadata: the one data dictionary."""
