"""One world without physics: the arm is where it is told, jaws hold what they close on rightly, parts drop straight."""

from collections.abc import Iterator, Mapping

import numpy as np

from evaluator.policy import Observation, Policy, Truth
from evaluator.vision.accuracy import ASKEW_RAD
from evaluator.vision.closing import Feed
from evaluator.vision.pictures import PictureMaker
from scenegen.cell import Cell, Role
from scenegen.geometry import Array, Pose
from scenegen.nominal import nominal_matter
from scenegen.parts.catalogue import Catalogue
from scenegen.posed import Posed
from scenegen.robot import Arm
from scenegen.scenario import Item, Scenario
from validators.grasp import GRASP

SHUT = 0.02
"""Below this opening the fingers have closed, 0 to 1."""
SPARE_S = 6.0
"""Time beyond the takt of all targets, as in rollouts [s]."""


class DryLine:
    """Lets a policy sort scenes, one at a time.

    Args:
        cell: The cell.
        parts: Its parts.
        maker: Photographs scenes.
    """

    def __init__(self, cell: Cell, parts: Catalogue, maker: PictureMaker) -> None:
        self._cell, self._parts, self._maker, self._arm = cell, parts, maker, Arm(cell.robot)

    def sort(self, policy: Policy, scenario: Scenario) -> dict[str, str]:
        """Run one episode.

        Args:
            policy: It answers with joint positions.
            scenario: The scene.

        Returns:
            Where each target lies at the end: `feed`, a bin or `table`, by name.
        """
        world = _World(self._cell, self._parts, self._arm, scenario)
        places = {name: "feed" for name in world.items if self._cell.slots[name].role is Role.TARGET}
        ticks = round((SPARE_S + self._cell.limits.takt_s * len(places)) * policy.spec.rate_hz)
        policy.reset([0], [scenario.task.instruction])
        for _ in range(0, ticks, policy.spec.execute):
            for action in policy.act(self._shown(policy, world))[0, : policy.spec.execute]:
                if dropped := world.move(action[:-1].astype(float), float(action[-1])):
                    places[dropped] = world.zone(dropped)
            if "feed" not in places.values():
                break
        return places

    def _shown(self, policy: Policy, world: "_World") -> Observation:
        now = world.scenario()
        images = _Images(self._maker, now) if policy.spec.cameras else {}
        poses = {item.name: np.array([*item.pose_to_world.position_m, *item.pose_to_world.quat_xyzw])
                 for item in world.items.values()}  # fmt: skip
        group = {"joint_pos": world.joints[None], "gripper_pos": np.array([[world.felt]])}
        truth = (Truth(now, poses),) if policy.spec.truth else None
        return Observation((0,), (now.task.instruction,), group, images, truth)


class _Images(Mapping[str, np.ndarray]):
    """The overhead camera's image, taken when somebody looks at it."""

    def __init__(self, maker: PictureMaker, scenario: Scenario) -> None:
        self._maker, self._scenario = maker, scenario

    def __getitem__(self, name: str) -> np.ndarray:
        if name != "overhead_rgb":
            raise KeyError(name)
        return self._maker.picture(self._scenario).image[None]

    def __iter__(self) -> Iterator[str]:
        return iter(("overhead_rgb",))

    def __len__(self) -> int:
        return 1


class _World:
    """Where everything is."""

    def __init__(self, cell: Cell, parts: Catalogue, arm: Arm, scenario: Scenario) -> None:
        self._cell, self._parts, self._arm, self._start = cell, parts, arm, scenario
        self.items = {item.name: item for item in scenario.layout.items}
        self.joints = np.array(scenario.motion.robot_start_rad, float)
        self.felt = 1.0
        """How far the fingers are really apart, 0 to 1."""
        self._opening, self._wide = 1.0, 1.0
        self._held: tuple[str, float] | None = None
        """What is held, and how far the fingers are apart then, 0 to 1."""

    def scenario(self) -> Scenario:
        """Return the scene as it is now."""
        layout = self._start.layout.replaced(items=tuple(self.items.values()))
        return self._start.varied(layout=layout, matter=nominal_matter(layout, self._parts))

    def zone(self, name: str) -> str:
        """Say where an item lies."""
        position = self.items[name].pose_to_world.position
        for fixture in self._start.layout.fixtures:
            local = fixture.pose_to_world.rotation.T @ (position - fixture.pose_to_world.position)
            if (np.abs(local[:2]) <= np.array(self._cell.containers[fixture.name].size_m) / 2).all():
                return fixture.name
        return "table"

    def move(self, joints: Array, opening: float) -> str | None:
        """Bring arm and fingers to their targets; returns the name of an item that was let go."""
        before, self._opening, self.joints = self._opening, opening, joints
        self._wide = opening if opening >= before else self._wide
        dropped = None
        tool, rotation = (one[0] for one in self._arm.tcp(joints[None]))
        if before > SHUT >= opening:
            self._held = self._closed(tool, float(np.arctan2(rotation[1, 1], rotation[0, 1])))
        elif before <= SHUT < opening and self._held:
            dropped, self._held = self._held[0], None
        if self._held or dropped:
            self._carry(dropped or self._held[0], tool)
        self.felt = max(opening, self._held[1]) if self._held else opening
        return dropped

    def _carry(self, name: str, tool: Array) -> None:
        pose = self.items[name].pose_to_world
        self.items[name] = self.items[name].replaced(pose_to_world=Pose.of(tool, pose.quat_xyzw))

    def _closed(self, tool: Array, yaw: float) -> tuple[str, float] | None:
        """Close the fingers: on which item, if on one that they hold."""
        feed = next(one.pose_to_world for one in self._start.layout.fixtures if one.name == "feed")
        items: list[Item] = [item for item in self.items.values() if self.zone(item.name) == "feed"]
        if not items:
            return None
        posed, gripper = Posed.of(items, self._parts), self._cell.robot.gripper
        middle = tool + np.array([0, 0, GRASP.limits["pad_m"] - gripper.tip_beyond_tcp_m])
        index = int(np.linalg.norm(posed.mass_centers - middle, axis=1).argmin())
        # The net says how high the contacts are; tips that stand on the floor reach less far below them.
        heights = middle[2] - np.linspace(0.0, GRASP.limits["pad_m"], 5)
        middles = np.column_stack([np.tile(middle[:2], (5, 1)), heights])
        opened = np.full(5, self._wide * gripper.opening_m)
        closed = Feed(gripper, self._cell.feed, feed).close_at(
            posed, index, middles, np.full(5, yaw), open_m=opened, askew_rad=ASKEW_RAD
        )
        if not closed.holds.any():
            return None
        return items[index].name, float(closed.width_m[closed.holds][0] / gripper.opening_m)
