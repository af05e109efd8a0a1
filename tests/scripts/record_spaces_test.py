#!/usr/bin/env python3
"""scripts/record_spaces on two tiny tasks: it measures everything, stops and goes on, and packs what redtune reads.

usage: record_spaces_test.py packing|tasks|device        exit code 77: skipped
"""
import gzip
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/record_spaces"
PROGRAM = os.path.join(os.environ["REDTUNE_BUILD"], "bin/redtune")
TINY = {"tiny_sum": ("--op sum --shape 64x32 --axes 1", "vec=1|16 rows=1 items=1 acc=1 px=1 serial=1 prefetch=0 walk=chunked"),
        "tiny_max": ("--op max --shape 16x64 --axes 0 --dtype i32",
                     "vec=16 rows=1 items=1 acc=1 px=1 serial=1 split=1 prefetch=0 walk=chunked")}


def load():
    loader = importlib.machinery.SourceFileLoader("record_spaces", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("record_spaces", loader))
    loader.exec_module(module)
    return module


def expect(condition, *evidence):
    if not condition:
        print(*evidence, sep="\n")
        sys.exit("record_spaces_test: failed")


def packing():
    module = load()
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log.jsonl"
        log.write_text("\n".join([
            '{"redtune_log":1,"kind":"run","host":"mine","command_line":"x","operator":{}}',
            '{"redtune_log":1,"kind":"started","schedule":"rx=1"}',
            '{"redtune_log":1,"kind":"trial","schedule":"rx=1","outcome":{"kind":"timed","median_seconds":0.0012345678,'
            '"seconds":[0.001,0.002]}}',
            '{"redtune_log":1,"kind":"tri', '{"redtune_log":1,"kind":"end","reason":"exhausted"}', ""]))
        text = module.packed(log)
    lines = [json.loads(line) for line in text.splitlines()]
    expect([line["kind"] for line in lines] == ["run", "trial"], text)
    expect("host" not in lines[0] and lines[0]["operator"] == {}, text)
    expect(lines[1]["outcome"] == {"kind": "timed", "median_seconds": 0.00123457}, text)
    expect(text.startswith('{"redtune_log":1'), text)


def tasks():
    """Each task keeps a few hundred schedules, and each form of the list is there."""
    done = subprocess.run([sys.executable, SCRIPT, "--list", "--redtune", PROGRAM], capture_output=True, text=True)
    sizes = [int(line.split(": ")[1].split()[0]) for line in done.stdout.splitlines()]
    expect(len(sizes) >= 8 and all(300 <= size <= 3000 for size in sizes), done.stdout, done.stderr)
    forms = {name.split("_")[0] for name in load().TASKS}
    expect(forms == {"r", "pr", "rp", "rpr", "prp"}, forms)
    bad = subprocess.run([sys.executable, SCRIPT, "--tasks", "nothing"], capture_output=True, text=True)
    expect(bad.returncode == 2 and "known: r_sum_f32" in bad.stderr, bad.stderr)


def device():
    module = load()
    module.TASKS = TINY
    with tempfile.TemporaryDirectory() as folder:
        out, work = pathlib.Path(folder) / "out", pathlib.Path(folder) / "work"
        sys.argv = ["record_spaces", "--out", str(out), "--work", str(work), "--redtune", PROGRAM]
        code = module.main()
        if code == 4:
            print("no device")
            sys.exit(77)
        expect(code == 0, code)
        for name, (operator, only) in TINY.items():
            text = gzip.decompress((out / f"{name}.jsonl.gz").read_bytes()).decode()
            schedules = {json.loads(line)["schedule"] for line in text.splitlines() if '"kind":"trial"' in line}
            count = subprocess.run([PROGRAM, "space", *operator.split(), "--only", only, "--count"], capture_output=True,
                                   text=True).stdout
            # The default is measured too, wherever it lies.
            expect(len(schedules) - int(count) in (0, 1), name, len(schedules), count)
        # What was lost is measured again, the rest is not.
        (out / "tiny_max.jsonl.gz").unlink()
        before = (work / "tiny_max.jsonl").read_text().splitlines(keepends=True)
        (work / "tiny_max.jsonl").write_text("".join(before[:6]) + '{"redtune_log":1,"ki')
        expect(module.main() == 0)
        text = gzip.decompress((out / "tiny_max.jsonl.gz").read_bytes()).decode()
        again = {json.loads(line)["schedule"] for line in text.splitlines() if '"kind":"trial"' in line}
        expect(again == schedules, again ^ schedules)
        replayed = subprocess.run([PROGRAM, "replay", *map(str, sorted(out.iterdir())), "--strategy", "random", "--repeats",
                                   "2", "--json"], capture_output=True, text=True)
        expect(replayed.returncode == 0 and len(json.loads(replayed.stdout)["results"]) == 3, replayed.stderr)


if __name__ == "__main__":
    {"packing": packing, "tasks": tasks, "device": device}[sys.argv[1]]()
