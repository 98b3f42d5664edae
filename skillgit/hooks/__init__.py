"""Git hooks: putting them in place beside others, and what they check."""
