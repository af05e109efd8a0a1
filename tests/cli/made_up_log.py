"""A log of many trials with times from a formula: for tests of what reads logs. Nothing in it was measured."""
import json
import math
import random

DEVICE, TIMING, TARGET = "made-up device", "cold/opencl_events", "cpu"
CLASSES = {"atomic": ("none", "warp"), "hybrid": ("lane", "tree", "shuffle")}


def seconds_of(schedule, elements, rng):
    """Faster with wide vectors and a few blocks, slower by atomics, with some noise."""
    fields = dict(word.split("=") for word in schedule.split())
    size = {name: int(value) for name, value in fields.items() if value.isdigit()}
    rate = 2e9 * min(16, size["vec"] * math.sqrt(size["acc"] * size["items"])) * min(2, size["split"]) ** 0.5
    cost = elements * 4 / rate + 2e-6 + 3e-9 * size["split"] * size["rx"]
    if fields["grid"] == "atomic":
        cost *= 1.3 if fields["block"] in CLASSES["hybrid"] else 2.2
    return cost * math.exp(rng.gauss(0, 0.15))


def trial_line(key, schedule, number, seconds):
    samples = [seconds * (1 + 0.004 * k) for k in (-2, 0, 2, 1, -1)]
    outcome = {"kind": "timed", "median_seconds": seconds, "low_seconds": seconds * 0.99, "high_seconds": seconds * 1.01,
               "spread": 0.006, "kernel_seconds": seconds, "max_error": 0.25, "compile_seconds": 0.3,
               "measure_seconds": 0.1, "seconds": samples}
    if number % 37 == 11:
        outcome = {"kind": "crashed", "detail": "signal 11 (Segmentation fault) <script>alert(1)</script>"}
    elif number % 53 == 7:
        outcome = {"kind": "wrong_result", "detail": "out[17] = 3.5, reference 4.25, tolerance 1e-06"}
    return {"redtune_log": 1, "kind": "trial", **key, "schedule": schedule, "program": "0123456789abcdef",
            "time": "2026-01-31T12:00:00Z", "outcome": outcome}


def lines(shape, schedules, default, operator, target_facts, seed=1):
    """`schedules`: texts; the default is measured first."""
    rng = random.Random(seed)
    elements = math.prod(shape)
    key = {"task": f"{operator} @ {TARGET}", "device": DEVICE, "timing": TIMING}
    yield {"redtune_log": 1, "kind": "run", "time": "2026-01-31T12:00:00Z", "version": "0.1.0", "command_line": "made up",
           "seed": seed, "device": DEVICE, "driver": "none", "host": "nowhere",
           "operator": {"op": "sum", "shape": shape, "axes": [1], "dtype": "f32"}, "target": TARGET,
           "target_facts": target_facts, "strategy": "random", "space_size": len(schedules), "default_schedule": default,
           "timing": TIMING}
    for number, schedule in enumerate([default] + schedules):
        yield trial_line(key, schedule, number, seconds_of(schedule, elements, rng))


def write(path, *arguments, **options):
    with open(path, "w") as file:
        for line in lines(*arguments, **options):
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
