"""The Python face of the queue: it only calls the SQL functions, no SQL logic lives here."""
