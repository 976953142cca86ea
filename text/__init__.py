"""Text for people: DSNs hide their passwords, controls cannot steer a terminal, options come by subject."""
