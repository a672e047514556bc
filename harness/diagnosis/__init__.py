"""Why two answers differ: parameters read back, residual patterns, and closure of what was found."""
