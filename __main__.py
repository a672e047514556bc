"""The command `tautology`, and `python -m tautology`."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line; an interrupt while it is loaded ends the process, without Python's traceback."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .harness.cli import main as run  # noqa: PLC0415  this takes as long as anything before the first model

    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, usual)
    run()


if __name__ == "__main__":
    main()
