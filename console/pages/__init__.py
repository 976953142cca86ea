"""What the console shows: one noun a module, each page a function of a request and the work of a person."""
