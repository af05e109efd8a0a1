#!/usr/bin/env python3
"""`redtune export` and `redtune predict`: what they write is compiled, run and read again.

usage: export_test.py formats|nvrtc|device        exit code 77: skipped
"""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import unittest

from redtune import CommandLine, NO_DEVICE, SMALL

CUDA = "block=warp grid=last_block rx=32 px=1 vec=1 split=2"
CUDA_INCLUDE = os.environ.get("REDTUNE_CUDA_INCLUDE", "")
CC = os.environ.get("REDTUNE_CC", "cc")
C_FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]

# A log as `redtune tune` writes it, of two schedules that were timed and one that was not.
KEY = "sum(f32[64,256];axes=1)->f32"
RUN = {"redtune_log": 1, "kind": "run", "time": "2026-01-31T12:00:00Z", "version": "0.1.0",
       "operator": {"op": "sum", "shape": [64, 256], "axes": [1]}, "target": "cpu", "device": "a device"}


def trial(schedule, outcome):
    return {"redtune_log": 1, "kind": "trial", "task": f"{KEY} @ cpu", "device": "a device", "timing": "cold/opencl_events",
            "schedule": schedule, "program": "0123456789abcdef", "time": "2026-01-31T12:00:00Z", "outcome": outcome}


LOG = [RUN, trial("vec=4", {"kind": "timed", "median_seconds": 2e-4, "seconds": [2e-4, 2.1e-4], "measure_seconds": 0.3}),
       trial("vec=16", {"kind": "timed", "median_seconds": 1e-4, "seconds": [1e-4, 1e-4], "measure_seconds": 0.2}),
       trial("block=tree rx=8", {"kind": "crashed", "detail": "signal 11"})]


class Formats(CommandLine):
    """What needs neither a device nor NVRTC."""

    def setUp(self):
        super().setUp()
        self.write("log.jsonl", "".join(json.dumps(line) + "\n" for line in LOG))

    def test_trials_go_to_other_tools_and_come_back(self):
        for form, suffix in (("cachefile", ".cache.json"), ("t4", ".t4.json")):
            out, _ = self.expect(0, "export", "--format", form, "--log", "log.jsonl", "-o", "out", env=NO_DEVICE)
            path = out.strip()
            self.assertTrue(path.endswith("sum-f32-64-256-axes-1-f32" + suffix), path)
            replayed = json.loads(self.expect(0, "replay", path, "--strategy", "exhaustive", "--repeats", "1", "--json")[0])
            self.assertEqual(len(replayed["results"]), 1)
        with open(self.path("out/sum-f32-64-256-axes-1-f32.cache.json")) as file:
            cache = json.load(file)
        self.assertEqual(cache["problem_size"], [64, 256])
        times = sorted(entry["time"] for entry in cache["cache"].values() if "__error__" not in entry)
        self.assertEqual(len(times), 2)
        self.assertAlmostEqual(times[0], 0.1)
        self.assertAlmostEqual(times[1], 0.205)

    def test_only_what_is_asked_for(self):
        words = ["export", "--format", "t4", "--log", "log.jsonl", "--op", "sum", "--shape", "64x257", "--axes", "1"]
        self.assertIn("no trial of what is asked for", self.expect(3, *words)[1])
        self.expect(0, "export", "--format", "t4", "--log", "log.jsonl", *SMALL)

    def test_bad_usage(self):
        _, err = self.expect(2, "export", *SMALL, "--format", "bundel")
        self.assertIn("did you mean 'bundle'?", err)
        self.assertIn("no config for", self.expect(3, "export", *SMALL, "--format", "source")[1])
        self.assertIn("no config to export", self.expect(3, "export", "--format", "wisdom")[1])
        self.assertIn("needs --target", self.expect(2, "export", *SMALL, "--format", "source", "--schedule", "vec=4")[1])
        self.assertIn("there are no cubins of it", self.expect(2, "export", *SMALL, "--format", "cubin", "--schedule", "vec=4",
                                                               "--target", "cpu")[1])
        self.assertIn("--op NAME --shape SIZES", self.expect(2, "predict", "--target", "sm_90")[1])
        self.assertIn("is not a CUDA target", self.expect(2, "predict", *SMALL, "--target", "cpu")[1])

    def test_source_says_how_to_launch_it(self):
        self.expect(0, "export", *SMALL, "--format", "source", "--schedule", CUDA, "--target", "sm_90", "-o", "out",
                    env=NO_DEVICE)
        with open(self.path("out/sum-f32-64-256-axes-1-f32.cu")) as file:
            text = file.read()
        for part in ("rt_main(in, out, partials, tickets): grid ", "counters, zeroed once", "not measured", "nvcc"):
            self.assertIn(part, text)
        with open(self.path("out/sum-f32-64-256-axes-1-f32.json")) as file:
            document = json.load(file)
        self.assertEqual(document["launches"][0]["entry"], "rt_main")
        self.assertNotIn("seconds", document)

    def test_explain_reads_a_log(self):
        out, _ = self.expect(0, "explain", "log.jsonl", env=NO_DEVICE)
        self.assertIn("why: block=none grid=none rx=1 px=1 vec=16", out)
        self.assertIn("vec 4 instead of 16: ", out)
        self.assertIn("the default gave no time", out)
        document = json.loads(self.expect(0, "explain", "log.jsonl", "--json")[0])
        self.assertEqual(document["results"][0]["runner_up"]["winner_has"], ["vec 16 instead of 4"])
        self.write("empty.jsonl", json.dumps(RUN) + "\n")
        self.expect(3, "explain", "empty.jsonl")

    def test_nvcc_takes_the_source_as_it_is(self):
        nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
        if not nvcc:
            self.skipTest("no nvcc")
        for words, schedule in ((SMALL, CUDA), (["--op", "argmax", "--shape", "64x4096", "--axes", "1"], CUDA)):
            self.expect(0, "export", *words, "--format", "source", "--schedule", schedule, "--target", "sm_90", "-o", "out")
        for source in glob.glob(self.path("out/*.cu")):
            done = subprocess.run([nvcc, "-std=c++17", "-cubin", "-arch=sm_90", "-Werror", "all-warnings", "-o",
                                   self.path("k.cubin"), source], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(os.path.getsize(self.path("k.cubin")), 1000)


class Nvrtc(CommandLine):
    """Machine code for GPUs that are not here."""

    def setUp(self):
        super().setUp()
        self.env = {**NO_DEVICE, "XDG_CACHE_HOME": self.directory}
        code, _, err = self.run_redtune("compile", *SMALL, "--target", "sm_90", "--sample", "1", env=self.env)
        if code == 4:
            self.skipTest(err)

    def cuda(self, form, *words):
        return self.expect(0, "export", *SMALL, "--format", form, "--schedule", CUDA, "--target", "sm_80,sm_90", "-o", "out",
                           *words, env=self.env)

    def test_cubins(self):
        self.cuda("cubin")
        for name in ("sm_80", "sm_90"):
            with open(self.path(f"out/sum-f32-64-256-axes-1-f32.{name}.cubin"), "rb") as file:
                self.assertEqual(file.read(4), b"\x7fELF")
        with open(self.path("out/sum-f32-64-256-axes-1-f32.json")) as file:
            images = json.load(file)["images"]
        self.assertEqual([image["architecture"] for image in images], ["sm_80", "sm_90"])
        self.assertGreater(images[0]["kernels"][0]["registers"], 8)

    def test_header_compiles_in_a_c_program(self):
        self.cuda("header")
        if not CUDA_INCLUDE:
            self.skipTest("no cuda.h")
        prefix = "redtune_sum_f32_64_256_axes_1_f32"
        self.write("main.c", f"""
            #include "out/sum-f32-64-256-axes-1-f32.h"
            int main(void) {{
              {prefix}_t sum;
              if ({prefix}_load(&sum) || {prefix}_run(&sum, 0, 0, 0)) return 1;
              return (int){prefix}_unload(&sum);
            }}""")
        for flags in ([CC, *C_FLAGS], ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-x", "c++"]):
            done = subprocess.run([*flags, "-isystem", CUDA_INCLUDE, "-c", "main.c", "-o", "main.o"], cwd=self.directory,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_prediction_is_marked_and_kept_apart(self):
        words = ["predict", *SMALL, "--target", "sm_90", "--top", "3", "--only", "vec=4 rows=1 serial=1 acc=4 items=4"]
        out, _ = self.expect(0, *words, env=self.env)
        self.assertIn("predicted, not measured", out)
        self.assertIn("<- predicted best", out)
        document = json.loads(self.expect(0, *words, "--json", env=self.env)[0])["results"][0]
        self.assertTrue(document["predicted"])
        self.assertEqual(len(document["candidates"]), 3)
        entry = json.loads(self.expect(0, "best", *SMALL, "--json", env=self.env)[0])
        self.assertEqual(len(entry), 1)
        self.assertNotIn("seconds", entry[0])
        self.assertEqual(entry[0]["predicted"]["model"], "analytic")
        self.assertEqual(entry[0]["schedule"], document["best"]["schedule"])
        self.assertIn(" predicted ", self.expect(0, "best", env=self.env)[0])
        # What takes measured configs does not see it; named by its own store it can be taken along.
        self.expect(3, "export", *SMALL, "--format", "header", env=self.env)
        store = ["--configs", "redtune-out/configs/predicted"]
        self.expect(0, "export", *SMALL, "--format", "header", *store, env=self.env)
        self.assertIn("takes measured configs", self.expect(2, "export", *SMALL, "--format", "bundle", *store, env=self.env)[1])
        self.expect(3, "export", "--format", "wisdom", *store, env=self.env)

    def test_a_candidate_is_dropped_or_has_its_registers_told(self):
        words = ["predict", "--op", "sum", "--shape", "64x65536", "--axes", "1", "--dtype", "f64", "--target", "sm_90", "--json"]
        result = json.loads(self.expect(0, *words, "--top", "4", env=self.env)[0])["results"][0]
        for candidate in result["candidates"]:
            self.assertNotEqual("dropped" in candidate, "registers" in candidate)
        self.assertNotIn("dropped", result["best"])


class Device(CommandLine):
    """On the best OpenCL device: tuned, exported, compiled by a C compiler, and run."""

    def setUp(self):
        super().setUp()
        code, _, err = self.run_redtune("tune", *SMALL, "--trials", "4", "--explain")
        if code == 4:
            self.skipTest(err)
        self.assertEqual(code, 0, err)

    def test_header_computes_in_a_c_program(self):
        if not os.path.exists("/usr/include/CL/cl.h"):
            self.skipTest("no CL/cl.h")
        self.expect(0, "export", *SMALL, "--format", "header", "-o", "out")
        prefix = "redtune_sum_f32_64_256_axes_1_f32"
        self.write("main.c", PROGRAM_TEXT.replace("@", prefix))
        done = subprocess.run([CC, *C_FLAGS, "-DCL_TARGET_OPENCL_VERSION=120", "main.c", "-o", "main", "-lOpenCL"],
                              cwd=self.directory, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([self.path("main")], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        values = struct.unpack("<64f", done.stdout)
        # Twice into the same object: counters and scratch are as they must be. Small whole numbers have exact sums.
        self.assertEqual(list(values), [float(sum((row * 256 + k) % 7 for k in range(256))) for row in range(64)])

    def test_bundle_wisdom_and_source(self):
        self.expect(0, "export", "--format", "bundle", "-o", "bundle")
        config = json.loads(self.expect(0, "best", "--configs", "bundle", "--json")[0])[0]
        with open(self.path(os.path.join("bundle", config["kernel"]["file"]))) as file:
            self.assertIn("RT_KERNEL(rt_main", file.read())
        self.expect(0, "run", *SMALL, "--config", "bundle")
        self.expect(0, "export", "--format", "wisdom", "-o", "wisdom")
        with open(self.path("wisdom/redtune_sum_f32_f32_row.wisdom")) as file:
            head, record = [json.loads(line) for line in file]
        # What Kernel Launcher's readers ask of the two lines.
        self.assertEqual((head["version"], head["objective"], head["key"]), ("1.0", "time", "redtune_sum_f32_f32_row"))
        self.assertEqual(len(head["tunable_parameters"]), len(record["config"]))
        self.assertEqual(record["problem_size"], [64, 1, 256])
        self.assertAlmostEqual(record["time"], config["seconds"] * 1e3)
        self.assertEqual(record["environment"]["device_name"], config["device"])
        self.assertIsInstance(record["environment"]["compute_capability"], int)
        self.expect(0, "export", *SMALL, "--format", "source", "-o", "source")
        self.assertTrue(glob.glob(self.path("source/*.cl")))
        self.expect(0, "export", *SMALL, "--format", "t4", "-o", "t4")

    def test_why_is_told(self):
        out, _ = self.expect(0, "tune", *SMALL, "--trials", "4", "--explain")
        self.assertIn("why: ", out)
        out, _ = self.expect(0, "tune", *SMALL, "--trials", "4", "--explain", "--json")
        self.assertIn("best", json.loads(out)["results"][0]["explanation"])


PROGRAM_TEXT = r"""
#include "out/sum-f32-64-256-axes-1-f32.h"
#include <stdio.h>
int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int e;
  cl_context context;
  cl_command_queue queue;
  cl_mem in, out;
  static float x[64 * 256], y[64];
  int i;
  @_t sum;
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 1;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  queue = clCreateCommandQueue(context, device, 0, &e);
  for (i = 0; i < 64 * 256; ++i) x[i] = (float)(i % 7);
  if (sizeof x != @_buffer_bytes[0] || sizeof y != @_buffer_bytes[1]) return 2;
  in = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof x, x, &e);
  out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof y, NULL, &e);
  if (e || @_load(&sum, context, device, queue)) return 3;
  for (i = 0; i < 2; ++i)
    if (@_run(&sum, in, out, queue)) return 4;
  if (clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL)) return 5;
  @_unload(&sum);
  fwrite(y, 1, sizeof y, stdout);
  return 0;
}
"""

if __name__ == "__main__":
    suites = {"formats": Formats, "nvrtc": Nvrtc, "device": Device}
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(suites[sys.argv[1]])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    skipped_all = result.testsRun > 0 and len(result.skipped) == result.testsRun
    sys.exit(1 if not result.wasSuccessful() else 77 if skipped_all else 0)
