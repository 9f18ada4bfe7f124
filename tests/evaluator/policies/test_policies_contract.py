"""One contract for every policy, local or behind a real socket."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

from evaluator.policies.action_range import ActionRange
from evaluator.policies.actions import rest_actions
from evaluator.policies.layout import LAYOUTS
from evaluator.policies.modality import GrootForm
from evaluator.policies.recording import Recording
from evaluator.policies.registry import KINDS, make_policy
from evaluator.policies.serve_groot import GrootServer
from evaluator.policies.serve_openpi import OpenpiServer
from evaluator.policy import ActionKind, Observation, PolicySpec, as_numpy

LOCAL = {
    "noop": "noop",
    "noop, velocities": "noop?action=joint_velocity",
    "noop, poses": "noop?action=tcp_pose",
    "noop, steps": "noop?action=tcp_delta",
    "random": "random",
    "replay": "replay:{recording}",
    "vision": "vision",
    "python": "python:evaluator.policies.noop:Noop",
}
"""Local policies by name."""
OPENPI = {
    "noop": ("noop", "droid_joint_position"),
    "random": ("random", "droid_joint_position"),
    "velocities": ("noop?action=joint_velocity", "droid"),
    "steps": ("replay:{recording}", "libero"),
}
"""What is served over openpi, and in which layout."""
GROOT = {
    GrootForm.N15: "mirror",  # this form knows no worlds, so a policy behind it may not remember any
    GrootForm.N16: "random",
    GrootForm.N16_FLAT: "mirror",
    GrootForm.N17: "noop?action=tcp_pose",
    GrootForm.N17_FLAT: "random",
}
"""What is served over each form of GR00T's protocol."""
CASES = [
    *(("local", name) for name in LOCAL),
    *(("openpi", name) for name in OPENPI),
    *(("groot", form) for form in GROOT),
]


class Mirror:
    """Remembers nothing: the robots' rest actions, with the cameras' mean brightness as the opening."""

    spec = PolicySpec("mirror", ActionKind.JOINT_POSITION, cameras=("wrist", "overhead"), horizon=3, execute=2)

    def reset(self, worlds, instructions):
        pass

    def act(self, observation):
        rest = rest_actions(self.spec.action, observation.policy)
        seen = [as_numpy(observation.camera_obs[f"{name}_rgb"]).astype(float) for name in self.spec.cameras]
        rest[:, -1] = (seen[0] * 2 + seen[1]).mean(axis=(1, 2, 3)) / 765
        return np.repeat(rest[:, None], 3, axis=1)

    def close(self):
        pass


class Tensor:
    """As much of a tensor on a device as a policy may rely on."""

    def __init__(self, array):
        self._array = array

    def cpu(self):
        return self

    def numpy(self):
        return self._array


class Maker:
    """Makes policies of one case, with the servers that they need."""

    def __init__(self, case, context, recording, checked):
        self.kind, self.name = case
        self._context, self._recording, self._checked = context, recording, checked
        self._stack = ExitStack()

    def make(self, context=None):
        context = context or self._context
        policy = make_policy(self._text(context), context)
        self._stack.callback(policy.close)
        return policy

    def _text(self, context):
        if self.kind == "local":
            return LOCAL[self.name].format(recording=self._recording)
        served = OPENPI[self.name][0] if self.kind == "openpi" else GROOT[self.name]
        policy = Mirror() if served == "mirror" else make_policy(served.format(recording=self._recording), context)
        wrapped = self._checked(policy)
        if self.kind == "openpi":
            layout = OPENPI[self.name][1]
            server = self._stack.enter_context(OpenpiServer(wrapped, LAYOUTS[layout], port=0))
            return f"openpi:{server.url}?layout={layout}&connections=2&deadline=5"
        server = self._stack.enter_context(GrootServer(wrapped, form=self.name, port=0))
        return f"groot:{server.url}?deadline=5&form={self.name if self.name.flat else 'auto'}"

    def close(self):
        self._stack.close()


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Two chunks of steps of the tool."""
    path = tmp_path_factory.mktemp("recording") / "steps.json"
    spec = PolicySpec("recorded", ActionKind.TCP_DELTA, horizon=10, execute=5)
    chunks = np.random.default_rng(0).uniform(-0.02, 0.02, (2, 10, 7))
    chunks[..., -1] = 1
    path.write_text(Recording.of(spec, chunks).canonical_json())
    return path


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def maker(request, context, recording, checked):
    made = Maker(request.param, context, recording, checked)
    yield made
    made.close()


def begun(maker, worlds=(0, 1, 2)):
    policy = maker.make()
    policy.reset(worlds, [f"sort {world}" for world in worlds])
    return policy


def part(observation: Observation, rows):
    """Some worlds of an observation."""
    return Observation(
        tuple(observation.worlds[row] for row in rows),
        tuple(observation.instructions[row] for row in rows),
        {key: array[rows] for key, array in observation.policy.items()},
        {key: array[rows] for key, array in observation.camera_obs.items()},
        seeds=tuple(observation.seeds[row] for row in rows),
    )


def test_every_kind_is_tried_here():
    """All but the oracle, which wants the truth: it has tests of its own."""
    kinds = {text.partition(":")[0].partition("?")[0] for text in LOCAL.values()}
    assert kinds | {"openpi", "groot", "oracle"} == KINDS.keys()


def test_answers_are_as_the_spec_says(maker, observe, context):
    policy = begun(maker)
    spec, allowed = policy.spec, ActionRange.of(policy.spec.action, context.cell.robot)
    assert 1 <= spec.execute <= spec.horizon
    assert spec.rate_hz > 0
    for moment in range(3):
        chunks = policy.act(observe(moment=moment))
        assert (chunks.shape, chunks.dtype) == ((3, spec.horizon, allowed.numbers), np.float32)
        assert allowed.faults(chunks) == {}


def test_a_batch_is_answered_as_its_worlds_one_by_one(maker, observe):
    together, alone = begun(maker), begun(maker)
    for moment in range(2):
        seen = observe(moment=moment)
        chunks = together.act(seen)
        single = [alone.act(part(seen, [row])) for row in (2, 0, 1)]
        np.testing.assert_array_equal(chunks[[2, 0, 1]], np.concatenate(single))


def test_the_order_of_worlds_does_not_matter(maker, observe):
    forth, back = begun(maker), begun(maker)
    seen = observe((0, 1, 2))
    np.testing.assert_array_equal(forth.act(seen)[::-1], back.act(part(seen, [2, 1, 0])))


def test_the_same_seed_gives_the_same_bytes(maker, observe):
    first, second = begun(maker), begun(maker)
    for moment in range(2):
        assert first.act(observe(moment=moment)).tobytes() == second.act(observe(moment=moment)).tobytes()


def test_a_reset_begins_anew_in_its_worlds_alone(maker, observe):
    policy, other = begun(maker), begun(maker)
    policy.act(observe(moment=0))
    other.act(observe(moment=0))
    policy.reset([1], ["sort 1"])
    chunks, unbroken = policy.act(observe(moment=1)), other.act(observe(moment=1))
    np.testing.assert_array_equal(chunks[[0, 2]], unbroken[[0, 2]])
    np.testing.assert_array_equal(chunks[1], begun(maker).act(observe(moment=1))[1])


def test_answers_follow_from_the_episode_in_whichever_world_and_order_it_is_played(maker, observe):
    first, later = begun(maker), begun(maker, (3, 5, 9))
    later.act(observe((3, 5, 9)))
    moved = (9, 3, 5)
    later.reset(moved, [f"sort {world}" for world in (0, 1, 2)])
    for moment in range(2):
        seen = observe((0, 1, 2), moment)
        np.testing.assert_array_equal(later.act(replace(seen, worlds=moved)), first.act(seen))


def test_worlds_may_come_later_and_have_any_number(maker, observe):
    policy = begun(maker)
    policy.act(observe())
    policy.reset([40], ["sort 40"])
    assert policy.act(observe((40,))).shape[0] == 1


def test_tensors_are_taken_as_arrays(maker, observe):
    policy, other = begun(maker), begun(maker)
    seen = observe()
    tensors = Observation(
        seen.worlds,
        seen.instructions,
        {key: Tensor(array) for key, array in seen.policy.items()},
        {key: Tensor(array) for key, array in seen.camera_obs.items()},
        seeds=seen.seeds,
    )
    np.testing.assert_array_equal(policy.act(tensors), other.act(seen))


def test_it_may_be_closed_twice(maker, observe):
    policy = begun(maker)
    policy.act(observe())
    policy.close()
    policy.close()


def test_an_observation_is_left_as_it_was(maker, observe):
    seen, same = observe(), observe()
    begun(maker).act(seen)
    for group in ("policy", "camera_obs"):
        for key, array in getattr(seen, group).items():
            np.testing.assert_array_equal(array, getattr(same, group)[key])


@pytest.mark.parametrize("kind", ActionKind)
def test_noop_holds_what_an_episode_began_with(context, observe, kind):
    policy = make_policy(f"noop?action={kind}", context)
    policy.reset([0, 1], ["", ""])
    began = rest_actions(kind, observe((0, 1)).policy)
    for moment in range(3):
        np.testing.assert_array_equal(policy.act(observe((0, 1), moment))[:, 0], began)
        began = rest_actions(kind, observe((0, 1)).policy)


def test_random_motion_is_smooth_and_stays_near_and_inside(context, observe):
    policy = make_policy("random", context)
    policy.reset([0, 1, 2], [""] * 3)
    path = np.concatenate([policy.act(observe(moment=moment)) for moment in range(100)], axis=1)
    start = observe().policy["joint_pos"]
    assert np.abs(path[..., :7] - start[:, None]).max() <= 0.151
    assert np.abs(np.diff(path[..., :7], axis=1)).max() * policy.spec.rate_hz <= 0.4
    assert np.abs(path[:, 0, :7] - start).max() < 0.02
    assert path[..., :7].std(axis=1).min() > 0.005
    assert (path[..., 7].min(), path[..., 7].max()) >= (0, 0)
    assert path[..., 7].max() <= 1


def test_random_motion_differs_by_seed_and_episode(context, observe):
    def first_chunk(seed, episode):
        policy = make_policy("random", replace(context, seed=seed))
        policy.reset([0], [""])
        return policy.act(replace(observe((0,)), seeds=(episode,))).tobytes()

    assert len({first_chunk(seed, episode) for seed in (1, 2) for episode in (1, 2)}) == 4


def test_random_motion_differs_by_world_and_episode_where_nobody_gives_seeds(context, observe):
    def first_chunks(seed, episodes):
        policy = make_policy("random", replace(context, seed=seed))
        for _ in range(episodes):
            policy.reset([0, 1], ["", ""])
        seen = observe((0, 0))
        return policy.act(Observation((0, 1), seen.instructions, seen.policy, seen.camera_obs))

    chunks = [chunk for seed in (1, 2) for episodes in (1, 2) for chunk in first_chunks(seed, episodes)]
    assert len({chunk.tobytes() for chunk in chunks}) == 8
