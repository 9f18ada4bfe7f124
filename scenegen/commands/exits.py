"""Exit codes of the command line."""

EXIT_DONE = 0
EXIT_FINDINGS = 1
"""Something was found, or a goal was not reached."""
EXIT_USAGE = 2
"""Wrong use, or a set-up that cannot work."""
EXIT_CRASH = 3
"""A bug in scenegen."""
EXIT_INTERRUPTED = 130
