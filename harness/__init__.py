"""The engine-free part: tree, importers, states, the contract of an engine, checks, results, front doors."""
