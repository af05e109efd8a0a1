#!/usr/bin/env python3
"""Builds redtune-baseline-cuda (CUB, cuDNN) and asks it for a sum: it compiles, and without a GPU it says so.

usage: cuda_baselines_test.py CMAKE BUILD_DIRECTORY
"""
import json
import os
import subprocess
import sys

REQUEST = {"do": "open", "operator": {"op": "sum", "shape": [64, 96], "axes": [1], "dtype": "f32"}, "seed": 1, "cold": True,
           "threads": 1}


def main():
    cmake, build = sys.argv[1:]
    done = subprocess.run([cmake, "--build", build, "--target", "redtune-baseline-cuda"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(done.stdout[-4000:])
    lines = [json.dumps({**REQUEST, "baseline": name}) for name in ("cub", "cudnn")] + ["not json"]
    answers = subprocess.run([os.path.join(build, "bin/redtune-baseline-cuda")], input="\n".join(lines) + "\n", text=True,
                             stdout=subprocess.PIPE, check=True).stdout.splitlines()
    assert len(answers) == len(lines), answers
    for answer in map(json.loads, answers[:2]):
        print(answer)
        assert answer["is"] == "done" or answer["detail"], answer
    assert json.loads(answers[2])["is"] == "failed", answers[2]


if __name__ == "__main__":
    main()
