"""Writes a file in place of a film, and lets go wrong what its recording says."""

import os
import signal
import time

from evaluator.rollout.film import FilmMaker

PAUSE_S = 2.0


class Drawer(FilmMaker):
    """Draws four pictures that are none."""

    def write(self, scenario, recorded, path, *, drawn=lambda: None):
        if recorded == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if recorded == "stops":
            os.kill(os.getpid(), signal.SIGSTOP)
        if recorded == "no room":
            raise OSError(28, "No space left on device")
        for _ in range(4):
            time.sleep(PAUSE_S if recorded == "slow" else 0)
            drawn()
        path.write_text(recorded)
        return path
