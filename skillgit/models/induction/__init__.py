"""What ``builtin:induce`` can learn from failures, one kind of lesson a module. Pure."""
