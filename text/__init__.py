"""Text that others wrote: DSNs are read without being shown, and what is shown does not steer a terminal."""
