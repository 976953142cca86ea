"""The log of workers: its lines, channels, files and settings. ``reader`` adds what happens in the engine."""
