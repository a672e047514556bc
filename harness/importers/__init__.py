"""File to tree, with the source line of every element."""
