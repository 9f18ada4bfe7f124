"""Scenes stream through worlds: what happens in a world depends on its scene, and on nothing else."""

import json

import numpy as np
import pytest

from evaluator.judging.outcome import Outcome
from evaluator.judging.trace import EndReason
from evaluator.policies.oracle import Oracle
from evaluator.policy import ActionKind, PolicySpec
from evaluator.rollout.stream import episode_seed
from scenegen.cell import Role
from scenegen.errors import PolicyError


class Swing:
    """Swings the tool to and fro, and remembers what it was shown."""

    def __init__(self, rate_hz=20.0, action=ActionKind.TCP_DELTA, horizon=4, execute=3):
        self.spec = PolicySpec(
            "swing", action, rate_hz=rate_hz, horizon=horizon, execute=execute, truth=True
        )  # fmt: skip
        self.steps, self.shown = {}, []

    def reset(self, worlds, instructions):
        self.steps |= dict.fromkeys(worlds, 0)

    def act(self, observation):
        chunks = np.zeros((len(observation.worlds), self.spec.horizon, 7), np.float32)
        for row, world in enumerate(observation.worlds):
            if self.steps[world] == 0:
                self.shown.append(observation.truth[row])
            steps = self.steps[world] + np.arange(self.spec.horizon)
            chunks[row, :, 0], chunks[row, :, 5] = 0.01 * np.sin(steps / 5), 0.02 * np.cos(steps / 9)
            chunks[row, :, 6] = (steps // 7) % 2
            self.steps[world] += self.spec.execute
        return chunks

    def close(self):
        pass


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """A target device's latencies."""
    path = tmp_path_factory.mktemp("profile") / "latency.json"
    path.write_text(json.dumps([0.0, 0.12, 0.04, 0.31, 0.2, 0.08, 0.16]))
    return str(path)


def test_the_oracle_sorts_every_part(play, scenes, judged, small):
    episodes = [judged(one) for one in play("oracle", scenes, worlds=3).values()]
    assert {one.outcome for one in episodes} == {Outcome.SUCCESS}
    assert all(item.placed for one in episodes for item in one.items if item.role is Role.TARGET)
    assert max(one.duration_s for one in episodes) < 6 + 2 * small.limits.takt_s


@pytest.mark.parametrize("policy", ["oracle", "noop", "random", Swing], ids=["oracle", "noop", "random", "swing"])
def test_neither_order_nor_number_of_worlds_matters(play, scenes, content, policy, profile):
    def run(order, worlds):
        made = policy if isinstance(policy, str) else policy()
        found = play(made, [scenes[index] for index in order], worlds=worlds, latency=profile)
        return {scene: content(one) for scene, one in found.items()}

    together = run([0, 1, 2, 3], 4)
    assert run([3, 0, 2, 1], 2) == together
    # What a kill leaves is played by itself.
    alone = run([1], 1)
    assert alone == {scene: one for scene, one in together.items() if scene in alone}


def test_worlds_ask_together_though_their_episodes_end_apart(play, scenes, small, catalogue):
    policy, asked = Oracle(small, catalogue), []
    answer = policy.act

    def act(observation):
        asked.append(len(observation.worlds))
        return answer(observation)

    policy.act = act
    found = play(policy, scenes, worlds=2)
    ages = [len(one.recorded.time_s) - 1 for one in found.values()]
    assert any(age % policy.spec.execute for age in ages)
    assert asked == sorted(asked, reverse=True)  # one alone only asks once the other has nothing left


def test_a_world_that_is_reset_shows_its_new_scene_first(play, scenes):
    policy = Swing()
    found = play(policy, scenes, worlds=1)
    assert [truth.scenario.id for truth in policy.shown] == [scene.id for scene in scenes]
    for truth in policy.shown:
        for item in truth.scenario.layout.items:
            np.testing.assert_allclose(truth.items[item.name][:3], item.pose_to_world.position_m, atol=1e-6)
    for scene in scenes:
        recorded = found[scene.id].recorded
        assert recorded.items == tuple(item.name for item in scene.layout.items)
        start = [item.pose_to_world.position_m for item in scene.layout.items]
        np.testing.assert_allclose(recorded.arrays["item_pose"][0, :, :3], start, atol=1e-6)
        np.testing.assert_allclose(recorded.arrays["joint_pos"][0], scene.motion.robot_start_rad, atol=1e-6)


@pytest.mark.parametrize("rate_hz", [7.0, 15.0, 20.0, 30.0, 50.0])
def test_a_policy_acts_as_often_as_it_says(play, scenes, rate_hz):
    found = play(Swing(rate_hz, horizon=1, execute=1), scenes[:1], worlds=1)[scenes[0].id]
    assert found.end is EndReason.TIMEOUT
    assert len(found.recorded.latency_s) == pytest.approx(found.recorded.time_s[-1] * rate_hz, abs=1)


def test_a_policy_that_is_faster_than_the_worlds_is_refused(play, scenes):
    with pytest.raises(PolicyError) as caught:
        play(Swing(60.0), scenes)
    accepted = "at most 50, as often as the worlds tick"
    assert str(caught.value) == f"policy swing: 60 actions a second - accepted: {accepted}"


def test_times_of_samples_are_those_of_the_line(play, scenes):
    found = play("noop", scenes[:2], worlds=2)
    for one in found.values():
        assert one.end is EndReason.TIMEOUT
        np.testing.assert_allclose(np.diff(one.recorded.time_s), 0.02)
        assert {len(array) for array in one.recorded.arrays.values()} == {len(one.recorded.time_s)}


def test_repeats_of_a_scene_give_the_policy_other_seeds():
    seeds = {episode_seed(scene, repeat) for scene in ("a", "b") for repeat in (0, 1)}
    assert len(seeds) == 4
    assert all(0 <= seed < 2**62 for seed in seeds)
    assert episode_seed("a", 1) == episode_seed("a", 1)
