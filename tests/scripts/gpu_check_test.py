#!/usr/bin/env python3
"""scripts/gpu_check as far as it goes without a GPU: what it reads and prints, how it ends, and all of it on the CPU.

usage: gpu_check_test.py parsing|steps|no_gpu|cpu|cub        exit code 77: skipped
"""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/gpu_check"
BUILD = os.environ["REDTUNE_BUILD"]


def load():
    loader = importlib.machinery.SourceFileLoader("gpu_check", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
    loader.exec_module(module)
    return module


def run(*words, env=None):
    done = subprocess.run([sys.executable, SCRIPT, "--no-build", "--build", BUILD, *words], capture_output=True,
                          text=True, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def expect(condition, *evidence):
    if not condition:
        print(*evidence, sep="\n")
        sys.exit("gpu_check_test: failed")


def parsing():
    check = load()
    text = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n========= ERROR SUMMARY: 3 errors\n"
    expect(check.sanitizer_summary(text) == [0, 3])
    expect(check.sanitizer_summary("========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n") == [2])
    expect(check.sanitizer_summary("no summary") == [])
    cases = [check.cub_case(dtype, sizes, axes) for _, dtype, sizes, axes in check.SHAPES]
    expect(cases[3:] == ["f32:8192r,768", "f32:32r,64,57r,57r", "f16:1024,32768r"], cases)
    trial = {"seconds": 1e-5, "bytes_per_second": 2e12, "mapping": "shuffle+atomic"}
    shape = {"name": "[65536]", "default": None, "best_tree": trial, "best_atomic": None, "best_hybrid": trial,
             "best": trial, "cub": {"seconds": 2e-5, "clock": "cupti"}}
    report = {"device": {"name": "a GPU", "driver": "CUDA 13.0", "clock": "cupti"}, "failures": [], "seconds": 12.3,
              "skipped": ["compute-sanitizer (not installed)"], "mappings": [{"ok": True}, {"ok": False}],
              "shapes": [shape]}
    table = check.table_of(report)
    expect("[65536]     -        10.00  -       10.00   10.00  2000  20.00  2.00      shuffle+atomic" in table, table)
    expect("skipped: compute-sanitizer" in table and "1 of 2 mappings verified" in table, table)
    report["device"]["clock"] = "cuda_events"
    table = check.table_of(report)
    expect("not comparable, left out" in table and "20.00" not in table, table)


def steps():
    """The steps that only a GPU takes, with stand-ins for the toolkit's programs."""
    module = load()
    check = module.Check(argparse.Namespace(shapes=2, operators=1, build=BUILD, install=None))
    check.program = pathlib.Path(BUILD) / "bin/redtune"
    check.report["device"] = {"id": "cuda:0", "clock": "cupti", "facts": {"uuid": "GPU-1"},
                              "target": {"kind": "cuda", "compute_capability": 90}}
    tools = check.scratch / "bin"
    tools.mkdir()

    def stand_in(name, text):
        (tools / name).write_text("#!/bin/sh\n" + text)
        (tools / name).chmod(0o755)

    check.find_tool = lambda name: str(tools / name)
    stand_in("compute-sanitizer", 'echo "========= ERROR SUMMARY: 0 errors" >&2\n')
    check.sanitize()
    runs = len(check.report["sanitizer"])
    expect(runs > 10 and not check.report["failures"], check.report)
    stand_in("compute-sanitizer", 'echo "========= ERROR SUMMARY: 2 errors"\n')
    check.sanitize()
    expect(len(check.report["failures"]) == runs, check.report)
    line = ('{\\"case\\": \\"$c\\", \\"seconds\\": 1e-5, \\"clock\\": \\"cupti\\", '
            '\\"method\\": \\"$CUDA_VISIBLE_DEVICES\\"}')
    binary = f"""#!/bin/sh\nfor c in "$@"; do echo "{line}"; done\n"""
    (tools / "binary").write_text(binary)
    stand_in("nvcc", f"""while [ "$1" != -o ]; do shift; done; cp {tools}/binary "$2"; chmod +x "$2"\n""")
    times = check.cub_times()
    expect(list(times) == ["f32:65536r", "f32:21128r,768r"] and times["f32:65536r"]["method"] == "GPU-1", times)
    stand_in("nvcc", "exit 1\n")
    expect(check.cub_times() == {} and "does not compile" in check.report["failures"][-1], check.report["failures"])
    shutil.rmtree(check.scratch)


def no_gpu():
    code, out, err = run(env={"CUDA_VISIBLE_DEVICES": ""})
    expect(code == 4 and "no NVIDIA GPU that redtune can use" in err and "--device cpu" in err, code, out, err)
    expect("libcuda.so.1 is not here" in err or "shows no GPU" in err, err)
    code, out, err = run("--device", "cuda:7", env={"CUDA_VISIBLE_DEVICES": ""})
    expect(code == 4 and "no device 'cuda:7'" in err, code, err)
    code, out, err = run("--install", "/nowhere")
    expect(code == 1 and "/nowhere/bin/redtune is not there" in err, code, err)
    expect(run("--no-such-option")[0] == 2)


def cpu():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        code, out, err = run("--device", "cpu", "--time", "4", "--trials", "3", "--operators", "1", "--shapes", "1",
                             "--json", path)
        if code == 4:
            print("no CPU device: ", err)
            sys.exit(77)
        expect(code == 0, code, out, err)
        with open(path) as file:
            report = json.load(file)
    expect(report["failures"] == [] and len(report["mappings"]) > 10, report)
    expect(all(row["ok"] and row["max_error"] <= 1 for row in report["mappings"]), report["mappings"])
    expect(report["shapes"][0]["best"]["seconds"] > 0 and report["shapes"][0]["cub"] is None, report["shapes"])
    expect(len(report["skipped"]) == 2 and report["tests"]["exit_code"] == 0, report)
    expect("mappings verified, 0 failures" in out and "[65536]" in out, out)


def cub():
    check = load()
    nvcc = check.Check.find_tool(None, "nvcc")
    if not nvcc:
        print("no nvcc")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "cub_baseline")

        def run_here(words):
            done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

        expect(check.build_cub(run_here, nvcc, binary, "sm_90", print), "bench/cub_baseline.cu does not compile")
        environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(check.cupti_folders(nvcc)), "CUDA_VISIBLE_DEVICES": ""}
        done = subprocess.run([binary, "f32:65536r"], capture_output=True, text=True, env=environment)
        expect(done.returncode == 4, done.returncode, done.stderr)
        done = subprocess.run([binary, "f32:x"], capture_output=True, text=True, env=environment)
        expect(done.returncode == 2 and "cannot read 'f32:x'" in done.stderr, done.stderr)


if __name__ == "__main__":
    {"parsing": parsing, "steps": steps, "no_gpu": no_gpu, "cpu": cpu, "cub": cub}[sys.argv[1]]()
