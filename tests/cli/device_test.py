#!/usr/bin/env python3
"""The verbs that measure and compute, on the best device that is present."""
import glob
import json
import os
import shlex
import signal
import struct
import subprocess
import time

from redtune import PROGRAM, SMALL, CommandLine, main


def write_npy(path, shape, values):
    """f32 in C order, as NumPy writes it; NumPy itself need not be here."""
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack(f"<{len(values)}f", *values))


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return list(struct.unpack(f"<{len(data) // 4}f", data))


class Run(CommandLine):
    def outputs(self, case, *words):
        self.write("case.json", json.dumps(case))
        return json.loads(self.expect(0, "run", "case.json", "--json", *words)[0])["outputs"]["out"]

    def test_small_sum(self):
        out = self.outputs({"op": "sum", "shape": [2, 3], "axes": [1], "dtype": "f32", "data": [1, 2, 3, 4, 5, 6]})
        self.assertEqual(out, {"shape": [2], "dtype": "f32", "data": [6, 15]})

    def test_non_finite_values_are_strings(self):
        case = {"op": "sum", "shape": [3, 2], "axes": [1], "dtype": "f32", "data": [1, "inf", "nan", 1, "-inf", 0]}
        self.assertEqual(self.outputs(case)["data"], ["inf", "nan", "-inf"])

    def test_integers_are_exact(self):
        case = {"op": "sum", "shape": [2], "dtype": "i64", "data": [9007199254740993, 0]}
        self.assertEqual(self.outputs(case)["data"], [9007199254740993])

    def test_empty_output_and_empty_reduction(self):
        self.assertEqual(self.outputs({"op": "sum", "shape": [0, 3], "axes": [1]})["data"], [])
        self.assertEqual(self.outputs({"op": "sum", "shape": [2, 0], "axes": [1]})["data"], [0, 0])

    def test_no_axis_and_rank_zero_are_copies(self):
        self.assertEqual(self.outputs({"op": "sum", "shape": [3], "axes": [], "data": [1, 2, 3]})["data"], [1, 2, 3])
        self.assertEqual(self.outputs({"op": "sum", "shape": [], "axes": [], "data": [7]})["data"], [7])

    def test_without_a_path_kernels_are_linked_all_the_same(self):
        self.expect(0, "run", *SMALL, env={"PATH": "", "POCL_KERNEL_CACHE": "0"})

    def test_a_broken_config_is_named(self):
        os.makedirs(self.path("store/device"))
        broken = self.write("store/device/sum.json", "{")
        _, err = self.expect(3, "run", *SMALL, "--config", "store")
        self.assertIn(broken, err)

    def test_every_class_of_mapping(self):
        case = {"op": "max", "shape": [4, 64], "axes": [1], "dtype": "i32", "data": list(range(256))}
        for mapping in ("tree", "atomic", "hybrid"):
            self.write("case.json", json.dumps(case))
            code, out, err = self.run_redtune("run", "case.json", "--json", "--mapping", mapping)
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["outputs"]["out"]["data"], [63, 127, 191, 255])
            self.assertEqual(json.loads(out)["class"], mapping)

    def test_npy_in_and_out(self):
        write_npy(self.path("x.npy"), (4, 6), list(range(24)))
        words = ["run", "--op", "sum", "--shape", "4x6", "--axes", "0"]
        self.expect(0, *words, "--input", "in=x.npy", "--output", "out=y.npy")
        self.assertEqual(read_npy(self.path("y.npy")), [36, 40, 44, 48, 52, 56])
        _, err = self.expect(2, "run", "--op", "sum", "--shape", "4x7", "--axes", "0", "--input", "x.npy")
        self.assertIn("has shape [4,6]", err)
        _, err = self.expect(2, *words, "--dtype", "f64", "--input", "x.npy")
        self.assertIn("holds '<f4'", err)

    def test_examples_of_the_help_work(self):
        write_npy(self.path("x.npy"), (64, 64), [1] * 4096)
        self.write("case.json", '{"op": "sum", "shape": [2, 3], "axes": [1], "data": [1, 2, 3, 4, 5, 6]}')
        examples = self.expect(0, "run", "--help")[0].split("examples:")[1].split("\n")
        examples = [shlex.split(line)[1:] for line in examples if line.startswith("  redtune run")]
        self.assertGreaterEqual(len(examples), 3)
        for words in examples:
            self.expect(0, *words)
        self.assertEqual(read_npy(self.path("sums.npy")), [64] * 64)

    def test_people_read_the_digits_of_the_type_and_the_mapping(self):
        self.write("case.json", '{"op": "max", "shape": [2], "axes": [], "data": [0.1, -2]}')
        out, _ = self.expect(0, "run", "case.json")
        self.assertIn("out = [0.1, -2], 2 f32", out)
        self.assertRegex(out, r"\(mapping \w+(\+\w+)?\)")

    def test_letters_of_the_short_form(self):
        write_npy(self.path("x.npy"), (4, 6), list(range(24)))
        words = ["run", "--op", "sum", "--shape", "4x6", "--axes", "0"]
        self.expect(0, *words, "--input", "X=x.npy", "--output", "Y=y.npy")
        self.assertEqual(read_npy(self.path("y.npy")), [36, 40, 44, 48, 52, 56])
        self.assertIn("unknown tensor 'Z'", self.expect(2, *words, "--input", "Z=x.npy")[1])

    def test_an_input_that_no_memory_holds(self):
        for words in (["--shape", "1000000000000"], ["--shape", "1000000x1000000", "--axes", "1", "--pattern", "zeros"],
                      ["--op", "max", "--shape", "2000000000000x1", "--axes", "1", "--dtype", "i8"]):
            self.assertIn("choose a smaller shape", self.expect(2, "run", *words)[1])

    def test_nothing_to_compute_still_wants_a_legal_schedule(self):
        words = ["run", "--op", "sum", "--shape", "0x4", "--axes", "1"]
        self.assertNotIn("checked", self.expect(0, *words)[0])
        self.expect(2, *words, "--schedule", "block=tree rx=4096")

    def test_no_schedule_of_a_mapping(self):
        self.expect(3, "run", *SMALL, "--mapping", "atomic", "--determinism", "run_to_run")

    def test_illegal_schedule(self):
        self.expect(2, "run", *SMALL, "--schedule", "block=warp rx=4096")


class Tune(CommandLine):
    FEW = ["--trials", "6"]

    def test_tunes_resumes_and_writes_what_run_can_use(self):
        out, _ = self.expect(0, "tune", *SMALL, *self.FEW)
        for part in ("device ", "canonical PR", "space ", "vs default", "best tree", "best atomic", "best hybrid",
                     "config ", "wall "):
            self.assertIn(part, out)
        log = "redtune-out/sum-f32-64-256-axes-1-f32.jsonl"
        with open(self.path(log)) as file:
            before = file.read()
        again, _ = self.expect(0, "tune", *SMALL, *self.FEW)
        self.assertIn(f"resumed 6 of 6 trials from {log}", again)
        with open(self.path(log)) as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(len(json.loads(self.expect(0, "best", *SMALL, "--json")[0])), 1)
        self.expect(0, "run", *SMALL, "--config", "redtune-out/configs")
        file = glob.glob(self.path("redtune-out/configs/*/sum.json"))[0]
        self.expect(0, "run", *SMALL, "--config", file)
        self.assertEqual(self.expect(0, "best", "--configs", file), self.expect(0, "best"))
        _, err = self.expect(3, "best", "--op", "sum", "--shape", "64x257", "--axes", "1")
        self.assertIn("differs in shape: asked [64,257], stored [64,256]", err)
        _, err = self.expect(0, "replay", log, "--strategy", "random", "--repeats", "2")
        self.assertIn("6 configurations are too few to judge strategies by", err)

    def test_scattered_times_are_called_doubtful(self):
        self.expect(0, "tune", *SMALL, "--trials", "1", "--log", "log.jsonl")
        with open(self.path("log.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        for factor, doubtful in ((1, False), (3, True)):
            for line in lines:
                if line["kind"] == "trial":
                    seconds = line["outcome"]["seconds"]
                    line["outcome"]["seconds"] = [1e-4 * (factor if i % 2 else 1) for i in range(len(seconds))]
            self.write("log.jsonl", "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
            out, _ = self.expect(0, "tune", *SMALL, "--trials", "1", "--log", "log.jsonl")
            self.assertIn("ended: trial limit, 1 trial (1 from the log)", out)
            self.assertEqual("times spread by" in out, doubtful, out)

    def test_graded_answers(self):
        self.expect(0, "tune", *SMALL, "--trials", "2")
        near = ["--op", "sum", "--shape", "64x512", "--axes", "1"]
        out, _ = self.expect(0, "best", *near, "--grade", "nearest", "--json")
        answer = json.loads(out)[0]
        self.assertEqual((answer["grade"], answer["distance"], answer["same_function"]), ("nearest", 1.0, False))
        self.assertIsNone(answer["regret"])
        self.assertIn("not measured", self.expect(0, "best", *near, "--grade", "nearest")[0])
        self.expect(3, "best", *near, "--grade", "exact")
        self.assertIn("did you mean 'nearest'", self.expect(2, "best", *near, "--grade", "nearst")[1])
        _, err = self.expect(3, "run", *near, "--config", "redtune-out/configs")
        self.assertIn("--grade takes less", err)
        _, err = self.expect(0, "run", *near, "--config", "redtune-out/configs", "--grade", "nearest")
        self.assertIn("warning: nearest: tuned as sum(f32[64,256];axes=1)->f32", err)

    def test_verify_configs_flags_what_no_longer_holds(self):
        self.expect(0, "tune", *SMALL, "--trials", "2")
        configs = ["verify", "--configs", "redtune-out/configs"]
        path = glob.glob(self.path("redtune-out/configs/*/sum.json"))[0]
        with open(path) as file:
            stored = json.load(file)

        def verify(code, *words, **changes):
            stored["entries"][0].update(changes)
            with open(path, "w") as file:
                json.dump(stored, file)
            out, _ = self.expect(code, *configs, "--json", *words)
            return json.loads(out)["results"][0]

        # Slow enough for any machine; then one that nothing reaches.
        slow = dict(seconds=1.0, low_seconds=0.9, high_seconds=1.1)
        self.assertEqual(verify(0, **slow)["standing"], "faster")
        self.assertEqual(verify(0, "--numbers-only", **slow)["standing"], "holds")
        fast = dict(seconds=1e-9, low_seconds=1e-9, high_seconds=1e-9)
        self.assertEqual(verify(3, **fast)["standing"], "slower")
        stale = verify(3, program_hash="0123456789abcdef")
        self.assertEqual(stale["standing"], "stale")
        self.assertIn("makes another kernel", stale["detail"])
        self.expect(3, *configs, "--op", "max", "--shape", "8")
        self.expect(2, *configs, "--all-schedules")

    def test_transfers_become_the_regret_of_the_nearest(self):
        near = ["--op", "sum", "--shape", "64x512", "--axes", "1"]
        for words in (SMALL, near):
            self.expect(0, "tune", *words, "--trials", "2")
        # Whatever the times do on a machine that does other work: what is asked for is the measurement.
        self.run_redtune("verify", "--configs", "redtune-out/configs", "--transfers", "--tolerance", "100")
        out, _ = self.expect(0, "best", "--op", "sum", "--shape", "64x1024", "--axes", "1", "--grade", "nearest", "--json")
        answer = json.loads(out)[0]
        self.assertEqual((answer["grade"], answer["regret_samples"]), ("nearest", 1))
        self.assertGreater(answer["regret"], -1)

    def test_json_is_one_document_on_stdout(self):
        out, err = self.expect(0, "tune", *SMALL, *self.FEW, "--json")
        result = json.loads(out)["results"][0]
        self.assertEqual(result["trials"], 6)
        self.assertGreaterEqual(result["best"]["speedup"], 0.97)
        self.assertIn("device ", err)
        self.assertLess(result["seconds"]["other"], 0.1 * result["seconds"]["wall"])

    def test_both_operators_are_in_the_store(self):
        self.write("a.json", '{"op": "sum", "shape": [64, 256], "axes": [1]}')
        self.write("b.json", '{"op": "max", "shape": [64, 256], "axes": [1]}')
        self.expect(0, "tune", "a.json", "b.json", "--trials", "2")
        self.assertEqual(len(json.loads(self.expect(0, "best", "--json")[0])), 2)

    def test_a_hopeless_operator_does_not_take_the_others_down(self):
        self.write("large.json", '{"op": "sum", "shape": [1000000, 1000000], "axes": [1]}')
        self.write("empty.json", '{"op": "sum", "shape": [0, 4], "axes": [1]}')
        self.write("small.json", '{"op": "sum", "shape": [64, 256], "axes": [1]}')
        out, _ = self.expect(2, "tune", "large.json", "empty.json", "small.json", "--trials", "2", "--json")
        large, empty, small = json.loads(out)["results"]
        self.assertIn("choose a smaller shape", large["error"])
        self.assertIn("nothing to tune", empty["error"])
        self.assertIn("best", small)
        self.assertIn("nothing to tune", self.expect(2, "tune", "empty.json")[1])

    def test_a_store_that_takes_no_config_is_told_before_anything_is_measured(self):
        self.write("file", "")
        self.expect(2, "tune", *SMALL, *self.FEW, "--configs", "file")
        self.expect(2, "tune", *SMALL, *self.FEW, "--configs", "/proc/nothing")
        self.assertIn("file is no directory", self.expect(2, "tune", *SMALL, *self.FEW, "--log", "file/x.jsonl")[1])
        self.assertFalse(os.path.exists(self.path("redtune-out")))

    def test_force_moves_a_foreign_log_aside(self):
        self.write("notes.txt", "mine\n")
        self.expect(0, "tune", *SMALL, "--trials", "1", "--log", "notes.txt", "--force")
        with open(self.path("notes.txt.bak")) as file:
            self.assertEqual(file.read(), "mine\n")
        out, _ = self.expect(0, "tune", *SMALL, "--trials", "1", "--log", "notes.txt", "--force")
        self.assertIn("resumed 1 of 1", out)

    def test_foreign_log_is_refused_and_left_alone(self):
        self.write("notes.txt", "mine\n")
        self.assertIn("is not a redtune log", self.expect(2, "tune", *SMALL, "--log", "notes.txt")[1])
        with open(self.path("notes.txt")) as file:
            self.assertEqual(file.read(), "mine\n")

    def test_full_disk(self):
        self.assertIn("cannot write /dev/full: No space left", self.expect(2, "tune", *SMALL, "--log", "/dev/full")[1])

    def test_one_element(self):
        self.expect(0, "tune", "--op", "sum", "--shape", "1", *self.FEW)
        self.expect(0, "tune", "--op", "sum", "--shape", "1", *self.FEW)

    def start_and_signal(self, what, after):
        """Starts a long run, sends a signal once `after` trials are in the log; gives exit code and stdout."""
        process = self.start("tune", *SMALL, "--trials", "500", "--log", "log.jsonl")
        deadline = time.time() + 120
        while time.time() < deadline and self.trials() < after:
            time.sleep(0.02)
        process.send_signal(what)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def trials(self):
        if not os.path.exists(self.path("log.jsonl")):
            return 0
        with open(self.path("log.jsonl")) as file:
            return sum('"kind":"trial"' in line for line in file)

    def test_interrupt_prints_the_best_and_keeps_everything(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            code, out, err = self.start_and_signal(number, 7)
            self.assertEqual(code, 0, err)
            self.assertIn("ended: interrupted", out)
            self.assertIn("best ", out)
            self.assertGreaterEqual(self.trials(), 7)
            os.remove(self.path("log.jsonl"))

    def test_a_killed_run_resumes_without_repeats(self):
        self.start_and_signal(signal.SIGKILL, 7)
        kept = self.trials()
        self.assertGreaterEqual(kept, 6)
        out, _ = self.expect(0, "tune", *SMALL, "--trials", str(kept + 4), "--log", "log.jsonl")
        self.assertIn(f"of {kept + 4} trials from log.jsonl", out)
        with open(self.path("log.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        trials = [line["schedule"] for line in lines if line["kind"] == "trial"]
        first = trials[:kept]
        again = trials[kept:kept + 2]
        self.assertFalse(set(first) & set(again))

    def test_no_leftover_processes(self):
        self.expect(0, "tune", *SMALL, *self.FEW)
        found = subprocess.run(["pgrep", "-f", os.path.dirname(PROGRAM) + "/redtune-worker"], capture_output=True)
        children = [pid for pid in found.stdout.split() if self.parent_is(int(pid), 1)]
        self.assertEqual(children, [])

    @staticmethod
    def parent_is(pid, parent):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return int(file.read().rsplit(")", 1)[1].split()[1]) == parent
        except OSError:
            return False


if __name__ == "__main__":
    main()
