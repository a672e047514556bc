"""Reports: results in, console, JSON and CSV out."""
