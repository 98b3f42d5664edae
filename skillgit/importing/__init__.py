"""Bringing in what was made elsewhere: a skill or prompt file, or a run folder of the reference system."""
