"""What stands between a call and the database: the pool's connections, and the one that listens."""
