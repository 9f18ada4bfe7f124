"""Compares Isaac Lab's images with the processor's: `python camera_trial.py CELL RESULT.json`."""

import json
import sys
from pathlib import Path

import numpy as np
import torch

from evaluator.isaac.line import open_line
from evaluator.rollout.robot_picture import robot_picture
from scenegen.base import sample_base
from scenegen.cells.loader import load_cell
from scenegen.geometry import Pose
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.photo import photo
from scenegen.imaging.renderer import Renderer
from scenegen.imaging.robot_shape import Posture
from scenegen.optical import Pattern, PatternKind, Stain
from scenegen.parts.builtin import builtin_catalogue
from scenegen.robot import Arm
from scenegen.scenario import Cameras, Lights, Sensor, ShadowCaster, SphereLight, Surfaces
from scenegen.streams import stream

CAMERAS = ("overhead", "wrist")
STEPS = 30


def small_cell(name):
    """The cell with two parts of each kind."""
    cell = load_cell(name)
    return cell.replaced(
        inventory=tuple(item.replaced(count=min(item.count, 2)) for item in cell.inventory), fill=(4, 6)
    )


class Trial:
    def __init__(self, name, line, cell, parts):
        self.line, self.cell, self.arm = line, cell, Arm(cell.robot)
        self.renderer = Renderer(cell, parts, robot=robot_picture(cell))
        self.scenes = [sample_base(cell, parts, rng=stream("camera-trial", index)) for index in range(2)]

    def over_the_feed(self, scene):
        """The scene with the tool above the feed's middle; its camera on the flange goes along."""
        start = scene.motion.robot_start_rad
        joints = np.array([start])
        _, rotation = self.arm.tcp(joints)
        above = self.cell.feed.pose_to_world.position[None] + np.array([[0.03, 0.0, 0.15]])
        for _ in range(STEPS):
            joints = self.arm.follow(joints, above, rotation)
        joints = tuple(joints[0].tolist())
        moved = self.arm.pose_flange_to_world(joints).after(self.arm.pose_flange_to_world(start).inverse())
        cameras = tuple(
            one.replaced(pose_to_world=moved.after(one.pose_to_world)) if one.name == "wrist" else one
            for one in scene.cameras.cameras
        )
        return scene.varied(motion=scene.motion.replaced(robot_start_rad=joints), cameras=Cameras(cameras=cameras))

    def coated(self, scene):
        """The scene with a pattern on the feed, stains on the parts, and cameras with all faults."""
        surfaces = []
        for one in scene.surfaces.surfaces:
            if one.subject == "feed":
                pattern = Pattern(kind=PatternKind.CHECKER, color=(0.6, 0.3, 0.1), size_m=0.03, angle_rad=0.3)
                surfaces.append(one.replaced(pattern=pattern))
            elif one.subject == "table":
                pattern = Pattern(kind=PatternKind.WOOD, color=(0.3, 0.2, 0.1), size_m=0.02)
                surfaces.append(one.replaced(pattern=pattern))
            else:
                stain = Stain(
                    color=(0.26, 0.11, 0.045), roughness=0.9, share=0.4, patch_m=0.004, phase=(0.3, 1.7, -5.2)
                )
                surfaces.append(one.replaced(stain=stain))
        faults = {"blur_px": 0.8, "veil_share": 0.1, "vignetting": 0.3, "motion_px": 3.0, "exposure_ev": -0.5}
        sensors = tuple(one.replaced(**faults) for one in scene.sensor.sensors)
        return scene.varied(surfaces=Surfaces(surfaces=tuple(surfaces)), sensor=Sensor(sensors=sensors))

    def lit(self, scene):
        """The scene with one lamp more, and a card before the others."""

        def above(*shift):
            return tuple((self.cell.feed.pose_to_world.position + np.array(shift)).tolist())

        lamp = SphereLight(name="lamp", luminance_nit=30000, position_m=above(0.1, -0.2, 0.4), radius_m=0.03)
        card = ShadowCaster(name="card", size_m=(0.1, 0.1), pose_to_world=Pose.of(above(0.05, 0.1, 0.5)))
        lights = scene.lights
        return scene.varied(lights=Lights(lights=(*lights.lights, lamp), shadow_casters=(card,)))

    def compare(self, scenes):
        """Put scenes and compare their first photos, camera by camera."""
        self.line.put(scenes)
        found = {}
        for camera in CAMERAS:
            photos = self.line.images(list(scenes), (camera,))[f"{camera}_rgb"].numpy()
            for row, (world, scene) in enumerate(scenes.items()):
                found[f"{camera} {world}"] = self.difference(scene, camera, world, photos[row])
        return found

    def difference(self, scene, camera, world, picture):
        posture = Posture(scene.motion.robot_start_rad)
        theirs = self.renderer.gbuffer(scene, camera, posture)
        red, green, blue = np.moveaxis(self.renderer.radiance(scene, camera, posture), -1, 0)
        sensor = next(one for one in scene.sensor.sensors if one.camera == camera)
        wanted = photo((red, green, blue), sensor, nominal=nominal_gain(self.cell), scenario_id=scene.id, xp=np)
        ours = self.line.gbuffer([world], camera)
        names = ours.names[: len(ours.names) // 3]
        shown = ours.instance[0].numpy()
        shown = np.where(shown >= 0, shown % len(names), -1)
        numbers = np.array([*(names.index(name.partition("/")[0]) for name in theirs.names), -1])
        expected = numbers[theirs.instance[0]]
        inner = inside(expected.reshape(picture.shape[:2])).ravel()
        apart = np.abs(picture.astype(int) - wanted).max(axis=2).ravel()[inner]
        depths = np.abs(ours.depth[0].numpy() - theirs.depth[0])
        return {
            "differ": float((shown != expected).mean()),
            "robot": float((shown == names.index("robot")).mean()),
            "mean": float(apart.mean()),
            "p99": float(np.quantile(apart, 0.99)),
            "depth_m": float(np.quantile(depths[(shown == expected) & (shown >= 0)], 0.999)),
        }


def inside(instance):
    """Pixels whose neighbours show the same."""
    padded = np.pad(instance, 1, mode="edge")
    height, width = instance.shape
    windows = (padded[y : y + height, x : x + width] for y in range(3) for x in range(3))
    return np.all([window == instance for window in windows], axis=0)


def main():
    torch.set_num_threads(1)
    name, target = sys.argv[1:]
    cell = small_cell(name)
    parts = builtin_catalogue([item.part for item in cell.inventory])
    result = {}
    with open_line(cell, parts, count=2, cameras=CAMERAS) as line:
        trial = Trial(name, line, cell, parts)
        first, second = trial.scenes
        result["plain"] = trial.compare({0: first, 1: second})
        kept = line.gbuffer([1], "wrist")
        photos = line.images([0, 1], ("overhead",))["overhead_rgb"].clone()
        result["after a partial put"] = trial.compare({0: trial.over_the_feed(second)})
        now = line.gbuffer([1], "wrist")
        result["other world stays"] = all(
            torch.equal(a, b)
            for a, b in zip((*kept.position, kept.instance), (*now.position, now.instance), strict=True)
        )
        result["coated and lit"] = trial.compare({0: trial.coated(first), 1: trial.lit(second)})
        line.put({1: first, 0: second})
        line.images([0, 1], ("overhead",))
        again = line.images([0, 1], ("overhead",))["overhead_rgb"]
        result["same in other worlds"] = bool(torch.equal(again, photos.flip(0)))
        result["frames differ"] = not torch.equal(again, line.images([0, 1], ("overhead",))["overhead_rgb"])
    Path(target).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
