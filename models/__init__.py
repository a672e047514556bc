"""Bundled robots."""
