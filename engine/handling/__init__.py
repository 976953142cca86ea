"""What an application's function is, what it may want done with a message, and what is recorded when it fails."""
