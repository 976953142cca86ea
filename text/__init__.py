"""Foreign text: DSNs are read without being shown, and shown text cannot control a terminal."""
