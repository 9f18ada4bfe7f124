"""What a run asked of its machine is summed up over its commands, and what is unknown stays so."""

from evaluator.judging.batch_times import BatchTimes, batch_times
from evaluator.judging.machine_use import MachineUse, together
from evaluator.judging.measures_timing import Latencies


def test_rates_are_those_of_all_worlds_by_wall_time():
    use = MachineUse(simulated_s=600, wall_s=60, physics_steps=240_000)
    assert (use.real_time_factor, use.physics_steps_per_s) == (10, 4000)
    for unknown in (MachineUse(), MachineUse(simulated_s=1, physics_steps=1, wall_s=0)):
        assert (unknown.real_time_factor, unknown.physics_steps_per_s) == (None, None)


def test_commands_add_up():
    first = MachineUse(
        host_peak_bytes=5, processors=1.0, utilisation=0.2, utilisation_low=0.1, worlds=8, opening_s=2, wall_s=30,
        simulated_s=10, batches=batch_times({8: [0.1]}),
    )  # fmt: skip
    second = MachineUse(host_peak_bytes=3, device_peak_bytes=7, processors=2.0, worlds=4, wall_s=90, physics_steps=9)
    assert together([first, second]) == MachineUse(
        host_peak_bytes=5, device_peak_bytes=7, processors=1.75, utilisation=0.2, utilisation_low=0.1, worlds=8,
        opening_s=2, wall_s=120, simulated_s=10, physics_steps=9, batches=first.batches,
    )  # fmt: skip
    assert together([]) == MachineUse()
    assert together([first]) == first


def test_calls_are_summed_up_by_the_size_of_their_batches():
    found = batch_times({1: [0.1], 3: [0.3, 0.2], 4: [0.4], 5: [0.5]})
    assert [(one.sizes, one.calls.count, one.calls.max_s) for one in found] == [
        ("1", 1, 0.1),
        ("3 to 4", 3, 0.4),
        ("5 to 8", 1, 0.5),
    ]
    assert found[1] == BatchTimes(most=4, calls=Latencies.of([0.3, 0.2]) + Latencies.of([0.4]))
    assert BatchTimes(most=2, calls=Latencies()).sizes == "2"
    twice = together([MachineUse(batches=found), MachineUse(batches=found[:1])])
    assert [one.calls.count for one in twice.batches] == [2, 3, 1]
