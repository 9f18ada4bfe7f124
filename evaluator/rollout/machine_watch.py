"""Measures what a rollout asks of its machine while it runs: memory, processors, device, time."""

from __future__ import annotations

import importlib
import resource
import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

import numpy as np

from evaluator.judging.batch_times import BatchTimes
from evaluator.judging.machine_use import MachineUse
from evaluator.rollout.line import Line

EVERY_S = 1.0
"""Time between looks at the device [s]: it tells the mean of about as long."""


class MachineWatch:
    """Watches one line from before it is opened; use as a context.

    Args:
        device: `cpu` or `cuda:0`; a device is looked at by a thread.
        timestep_s: Length of a physics step [s]; None without physics.
    """

    def __init__(self, device: str, *, timestep_s: float | None) -> None:
        self._device, self._timestep_s = device, timestep_s
        self._begun = self._opened = time.perf_counter()
        self._line: Line | None = None
        self._processor_s = 0.0
        self._ticks, self._played = 0, 0
        self._busy: list[float] = []
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        """Begin."""
        if _on_gpu(self._device):
            threading.Thread(target=self._look, daemon=True, name="machine").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop looking."""
        self._ended.set()

    def opened(self, line: Line) -> None:
        """Note that the worlds are there."""
        self._line, self._opened, self._processor_s = line, time.perf_counter(), time.process_time()
        self._busy.clear()

    def tick(self, busy: int) -> None:
        """Count a tick of all worlds, of which so many played."""
        self._ticks, self._played = self._ticks + 1, self._played + busy

    def use(self, batches: tuple[BatchTimes, ...]) -> MachineUse:
        """Return what was measured since the worlds were there.

        Args:
            batches: How long the policy's calls took.
        """
        wall_s, line = time.perf_counter() - self._opened, self._line
        processor_s = time.process_time() - self._processor_s
        steps = None
        if line is not None and self._timestep_s is not None:
            steps = self._ticks * line.count * round(1 / (line.rate_hz * self._timestep_s))
        return MachineUse(
            host_peak_bytes=_host_peak_bytes(),
            device_peak_bytes=_device_peak_bytes(self._device) if _on_gpu(self._device) else None,
            processors=processor_s / wall_s,
            utilisation=float(np.mean(self._busy)) if self._busy else None,
            utilisation_low=float(np.quantile(self._busy, 0.1)) if self._busy else None,
            worlds=line.count if line is not None else None,
            opening_s=self._opened - self._begun,
            wall_s=wall_s,
            simulated_s=self._played / line.rate_hz if line is not None else None,
            physics_steps=steps,
            batches=batches,
        )

    def _look(self) -> None:
        """Ask the driver how busy the device is, where its library is installed."""
        torch: Any = importlib.import_module("torch")
        while not self._ended.wait(EVERY_S):
            try:
                self._busy.append(torch.cuda.utilization(self._device) / 100)
            except (ImportError, RuntimeError):
                return


def _on_gpu(device: str) -> bool:
    return device.startswith("cuda")


def _host_peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _device_peak_bytes(device: str) -> int | None:
    """Add up what torch and Warp held at most; each has memory of its own."""
    torch, warp = sys.modules.get("torch"), sys.modules.get("warp")
    held = [torch.cuda.max_memory_allocated(device)] if torch is not None else []
    if warp is not None and warp.is_mempool_supported(device):
        held.append(warp.get_mempool_used_mem_high(device))
    return sum(held) if held else None
