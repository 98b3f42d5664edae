"""What a person does with a set of tasks: check it, see how it is split, add to it, have tasks drafted."""
