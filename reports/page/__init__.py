"""The HTML report: one file that holds everything it needs and asks nobody for anything."""

from .build import html

__all__ = ["html"]
