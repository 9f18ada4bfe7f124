"""Measures what worlds of loose parts do, in a process of its own: `python worlds_trial.py RESULT.json`."""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import warp as wp
from isaaclab_newton.physics import NewtonManager
from newton import ModelFlags

from evaluator.isaac.worlds import open_worlds
from scenegen.base import sample_base
from scenegen.cells.loader import load_cell
from scenegen.geometry import Pose
from scenegen.parts.builtin import builtin_catalogue
from scenegen.streams import stream

NUT, BOLT = "hex_nut_m8", "hex_bolt_m8x20"
WORLDS = 4
SHAKEN_HZ, WEAK_M, STRONG_M = 25.0, 0.00015, 0.0004
DERIVED = ("body_mass", "body_subtreemass", "body_ipos", "body_gravcomp", "body_invweight0", "dof_invweight0")


def small_cell():
    cell = load_cell("fasteners")
    inventory = tuple(item.replaced(count=1) for item in cell.inventory if item.part in (NUT, BOLT))
    return cell.replaced(inventory=inventory, fill=(2, 2))


class Trial:
    def __init__(self, worlds, cell, parts):
        self.worlds, self.cell, self.reader = worlds, cell, worlds.reader(())
        self.base = sample_base(cell, parts, rng=stream("worlds-trial"))
        self.nut, self.bolt = (next(n for n in worlds.slots if n.startswith(part)) for part in (NUT, BOLT))

    def scene(self, *, moved=(0.0, 0.0), shaking=0.0, mass=1.0, off_center=(0.0, 0.0, 0.0), **places):
        """A scene with some parts at places, bins moved, masses changed, the table shaking along X."""
        items = [item for item in self.base.layout.items if item.name in places]
        shift = Pose.of((*moved, 0.0))
        items = tuple(item.replaced(pose_to_world=Pose.of(places[item.name])) for item in items)
        fixtures = tuple(
            one if one.name == "feed" else one.replaced(pose_to_world=shift.after(one.pose_to_world))
            for one in self.base.layout.fixtures
        )
        matter = tuple(
            m.replaced(mass_kg=mass * m.mass_kg, center_of_mass_m=off_center)
            for m in self.base.matter.items
            if m.name in places
        )
        motion = self.base.motion.replaced(
            vibration_amplitude_m=shaking, vibration_frequency_hz=SHAKEN_HZ, vibration_direction=(1.0, 0.0, 0.0)
        )
        return self.base.replaced(
            layout=self.base.layout.replaced(items=items, fixtures=fixtures),
            matter=self.base.matter.replaced(items=matter),
            motion=motion,
        )

    def states(self):
        return np.concatenate(self.worlds.slot_states(), axis=2)

    def height(self, world, name):
        return float(self.states()[world, self.worlds.slots.index(name), 2])

    def contents(self):
        """Heights at which parts come to rest in worlds with other contents and other places of bins."""
        x, y = 0.48, 0.02
        box = next(f.pose_to_world for f in self.base.layout.fixtures if f.name == self.cell.bins[0].name)
        over, aside = box.position, np.array([-0.18, -0.15, 0.0])
        drop = tuple(over + aside + [0.0, 0.0, 0.02])
        self.worlds.load(
            [
                self.scene(**{self.nut: (x, y, 0.008), self.bolt: (x, y, 0.03)}),
                self.scene(**{self.bolt: (x, y, 0.03)}),
                self.scene(moved=tuple(aside[:2]), **{self.nut: drop}),
                self.scene(**{self.nut: drop}),
            ]
        )
        self.worlds.advance(300)
        return {
            "bolt_over_nut": self.height(0, self.bolt),
            "bolt_alone": self.height(1, self.bolt),
            "nut_in_moved_bin": self.height(2, self.nut),
            "nut_beside_bin": self.height(3, self.nut),
            "absent": self.height(1, self.nut),
        }

    def start(self):
        x, y = 0.48, 0.02
        spots = {self.nut: (x, y, 0.02), self.bolt: (x, y + 0.05, 0.03)}
        self.worlds.load(
            [
                self.scene(mass=1.0 + world / 5, off_center=(world / 1e3, 0.001, 0.002), **spots)
                for world in range(WORLDS)
            ]
        )

    def others(self, disturb):
        """Bytes of worlds 0, 2 and 3 after world 1 was disturbed on the way."""
        self.start()
        self.worlds.advance(40)
        disturb()
        self.worlds.advance(8)
        broken = self.reader.read().broken.tolist()
        if broken[1]:
            self.worlds.clear([1])
        self.worlds.advance(60)
        return self.states()[[0, 2, 3]].tobytes().hex(), broken

    def put_one(self):
        self.worlds.put({1: self.scene(moved=(0.02, 0.01), shaking=STRONG_M, **{self.nut: (0.5, 0.0, 0.05)})})

    def spoil(self):
        slots = self.worlds._scene["slots"]
        bad = torch.full((1, len(self.worlds.slots), 6), float("nan"), device=slots.device)
        slots.write_body_com_velocity_to_sim_index(
            body_velocities=bad, env_ids=torch.tensor([1], dtype=torch.int32, device=slots.device)
        )

    def disturbed(self):
        alone, _ = self.others(lambda: None)
        again, _ = self.others(lambda: None)
        put, _ = self.others(self.put_one)
        spoilt, broken = self.others(self.spoil)
        self.start()
        self.worlds.advance(108)
        healed = self.states()[[0, 2, 3]].tobytes().hex() == alone
        return {
            "repeats": alone == again,
            "put_leaves_others": put == alone,
            "nan_leaves_others": spoilt == alone,
            "broken": broken,
            "healed": healed and bool(np.isfinite(self.states()).all()),
        }

    def shaken(self):
        """Ways of nuts on tables that shake weakly, strongly, and not at all, as seen from the table."""
        spot = {self.nut: (0.2, -0.2, 0.0034)}
        amplitudes = (0.0, WEAK_M, STRONG_M, 0.0)
        self.worlds.load([self.scene(shaking=amplitude, **spot) for amplitude in amplitudes])
        row, ways = self.worlds.slots.index(self.nut), []
        for _ in range(400):
            self.worlds.advance(1)
            ways.append(self.states()[:, row, :3])
        return np.array(ways).transpose(1, 0, 2).tolist()

    def derived(self):
        """Greatest relative difference of what was derived by hand from what Newton derives."""
        self.start()
        self.put_one()
        self.worlds.advance(1)
        solver = NewtonManager._solver
        before = {name: wp.to_torch(getattr(solver.mjw_model, name)).clone() for name in DERIVED}
        for name in ("body_subtreemass", "body_invweight0", "dof_invweight0"):
            getattr(solver.mjw_model, name).zero_()
        with wp.ScopedDevice(solver.model.device):
            solver.notify_model_changed(ModelFlags.BODY_INERTIAL_PROPERTIES)
        after = {name: wp.to_torch(getattr(solver.mjw_model, name)) for name in DERIVED}
        return {n: float(((before[n] - after[n]).abs() / (after[n].abs() + 1e-9)).max()) for n in DERIVED}


def main():
    cell = small_cell()
    parts = builtin_catalogue([item.part for item in cell.inventory])
    with open_worlds(cell, parts, count=WORLDS) as worlds:
        trial = Trial(worlds, cell, parts)
        names = ("contents", "disturbed", "shaken", "derived")
        result = {name: getattr(trial, name)() for name in names}
    Path(sys.argv[1]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
