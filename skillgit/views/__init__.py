"""Records as the lines and rows that people read. Pure."""
