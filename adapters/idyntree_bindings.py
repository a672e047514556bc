"""iDynTree's Python bindings, imported so that warnings which are errors cannot end the process.

SWIG's types warn of a missing `__module__` while the module is made; where Python is told to raise instead, the import
of 15.1 crashes.
"""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import idyntree.bindings as idt

__all__ = ["idt"]
