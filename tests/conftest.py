"""What holds for every test."""

from __future__ import annotations

import signal

# A run that a script has put into the background ignores Ctrl-C, and so would everything it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
