"""A training as pictures: score curves, a graph of the history, and a page that tells all of it."""
