"""What a GR00T policy reads and gives, as its server describes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from evaluator.policies.codec import ArrayForm, WireError

MODALITIES = ("video", "state", "action", "language")
MOST_KEYS = 64
"""Most keys, and most steps, of one modality."""


class GrootForm(StrEnum):
    """Forms of the protocol."""

    N15 = "n1.5"
    """Flat observation as `data`; a flat action comes back. Arrays as .npy."""
    N16 = "n1.6"
    """Nested observation and options; `[action, info]` comes back. Arrays as .npy."""
    N16_FLAT = "n1.6-flat"
    """The same with flat observation and action: a server with `--use-sim-policy-wrapper`."""
    N17 = "n1.7"
    """As n1.6, arrays in msgpack-numpy's form."""
    N17_FLAT = "n1.7-flat"

    @property
    def flat(self) -> bool:
        """Whether keys are `video.<key>`, `state.<key>`, `action.<key>` in one mapping."""
        return self in (GrootForm.N15, GrootForm.N16_FLAT, GrootForm.N17_FLAT)

    @property
    def arrays(self) -> ArrayForm:
        """How arrays are written."""
        return ArrayForm.ND if self in (GrootForm.N17, GrootForm.N17_FLAT) else ArrayForm.NPY

    @property
    def marker(self) -> str:
        """Key by which a modality's description is known."""
        return "__ModalityConfig__" if self.arrays is ArrayForm.ND else "__ModalityConfig_class__"


@dataclass(frozen=True)
class Modality:
    """Keys of one modality, and at which steps each is wanted or given."""

    keys: tuple[str, ...]
    """Without the modality's name in front."""
    deltas: tuple[int, ...]
    """Steps relative to now, ascending: `(-15, 0)` is what was 15 steps ago, and now."""
    in_front: bool = False
    """Whether the server's keys have the modality's name in front."""

    @classmethod
    def read(cls, name: str, described: Any) -> Self:
        """Read a description; `modality_keys` and `delta_indices` of it count.

        Raises:
            WireError: It is of another form.
        """
        if isinstance(described, str | bytes):
            try:
                described = json.loads(described)
            except (ValueError, RecursionError):
                raise WireError(f"a description of {name} that is no JSON") from None
        if not isinstance(described, Mapping):
            raise WireError(f"a description of {name} that is no mapping")
        keys, deltas = described.get("modality_keys"), described.get("delta_indices")
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise WireError(f"a description of {name} without modality_keys")
        if not isinstance(deltas, list) or not deltas or not all(type(step) is int for step in deltas):
            raise WireError(f"a description of {name} without delta_indices")
        if len(keys) > MOST_KEYS or len(deltas) > MOST_KEYS or max(map(abs, deltas)) > 1000:
            raise WireError(f"a description of {name} with too many keys or steps")
        front = f"{name}."
        bare = tuple(key.removeprefix(front) for key in keys)
        return cls(bare, tuple(sorted(deltas)), in_front=any(key.startswith(front) for key in keys))


@dataclass(frozen=True)
class Modalities:
    """All four, and the form of the protocol that their description gives away."""

    video: Modality
    state: Modality
    action: Modality
    language: Modality
    form: GrootForm

    @classmethod
    def read(cls, reply: Any) -> Self:
        """Read the reply to `get_modality_config`.

        N1.5 puts the modality's name in front of each key; N1.7 marks a description otherwise than those before it.

        Raises:
            WireError: It is no such reply.
        """
        if not isinstance(reply, Mapping):
            raise WireError(f"modalities of type {type(reply).__name__}")
        found: dict[str, Modality] = {}
        newest = False
        for name in MODALITIES:
            entry = reply.get(name)
            if not isinstance(entry, Mapping):
                raise WireError(f"modalities without {name}")
            newest |= GrootForm.N17.marker in entry
            found[name] = Modality.read(name, entry.get("as_json", entry))
        in_front = any(one.in_front for one in found.values())
        form = GrootForm.N17 if newest else GrootForm.N15 if in_front else GrootForm.N16
        return cls(**found, form=form)

    def written(self) -> dict[str, Any]:
        """Return the reply that describes these."""
        reply: dict[str, Any] = {}
        for name in MODALITIES:
            one: Modality = getattr(self, name)
            front = f"{name}." if self.form is GrootForm.N15 and name != "language" else ""
            described = {"delta_indices": list(one.deltas), "modality_keys": [front + key for key in one.keys]}
            as_json = json.dumps(described) if self.form is GrootForm.N15 else described
            reply[name] = {self.form.marker: True, "as_json": as_json}
        return reply
