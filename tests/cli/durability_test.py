#!/usr/bin/env python3
"""What a run survives: full disks, other runs, odd paths and locales. Nothing that was measured is lost."""
import json
import os
import subprocess

from redtune import SMALL, CommandLine, main

FEW = ["--trials", "3"]


class Durability(CommandLine):
    def lines(self, name="log.jsonl"):
        with open(self.path(name)) as file:
            return [json.loads(line) for line in file]

    def trials(self, name="log.jsonl"):
        return [line for line in self.lines(name) if line["kind"] == "trial"]

    def small_disk(self, kilobytes):
        """A directory that holds no more than that; skips where none can be mounted."""
        path = self.path("disk")
        os.mkdir(path)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", path], capture_output=True)
        if done.returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", path], check=True)
        return path

    def fill(self, disk, leave_bytes):
        """Takes what is left of a disk but that much."""
        with open(os.path.join(disk, "ballast"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
            file.truncate(max(0, file.tell() - leave_bytes) // 4096 * 4096)

    def test_a_disk_that_fills_up_keeps_what_was_measured(self):
        disk = self.small_disk(64)
        self.fill(disk, 12288)
        _, err = self.expect(2, "tune", *SMALL, "--trials", "60", "--log", "disk/log.jsonl")
        self.assertIn("cannot write disk/log.jsonl: No space left", err)
        kept = self.trials("disk/log.jsonl")
        self.assertGreater(len(kept), 0)
        os.remove(os.path.join(disk, "ballast"))
        out, err = self.expect(0, "tune", *SMALL, "--trials", str(len(kept) + 1), "--log", "disk/log.jsonl")
        self.assertIn("resumed ", out)
        self.assertNotIn("torn", err)

    def test_a_config_store_on_a_full_disk_keeps_its_old_file(self):
        disk = self.small_disk(64)
        self.expect(0, "tune", *SMALL, *FEW, "--log", "a.jsonl", "--configs", "disk/configs")
        files = [os.path.join(folder, name) for folder, _, names in os.walk(disk) for name in names
                 if name.endswith(".json")]
        self.assertEqual(len(files), 1)
        with open(files[0]) as file:
            before = file.read()
        self.fill(disk, 0)
        other = ["--op", "sum", "--shape", "64x512", "--axes", "1"]
        _, err = self.expect(2, "tune", *other, *FEW, "--log", "b.jsonl", "--configs", "disk/configs")
        self.assertIn("disk/configs", err)
        self.assertIn("No space left", err)
        with open(files[0]) as file:
            self.assertEqual(file.read(), before)
        self.assertGreaterEqual(len(self.trials("b.jsonl")), 3)

    def test_two_runs_on_one_log(self):
        words = ["tune", *SMALL, "--trials", "6", "--log", "log.jsonl"]
        first, second = self.start(*words, "--seed", "1"), self.start(*words, "--seed", "2")
        for run in (first, second):
            _, err = run.communicate(timeout=300)
            self.assertEqual(run.returncode, 0, err)
        self.assertEqual(sum(line["kind"] == "run" for line in self.lines()), 2)
        self.assertGreaterEqual(len({line["schedule"] for line in self.trials()}), 6)
        out, _ = self.expect(0, *words)
        self.assertIn("resumed ", out)

    def test_a_log_that_cannot_be_written_is_named_and_left_alone(self):
        os.mkdir(self.path("folder.jsonl"))
        _, err = self.expect(2, "tune", *SMALL, *FEW, "--log", "folder.jsonl")
        self.assertIn("folder.jsonl", err)

    def test_a_read_only_log_is_read_and_not_touched(self):
        self.expect(0, "tune", *SMALL, *FEW, "--log", "log.jsonl")
        os.chmod(self.path("log.jsonl"), 0o444)
        before = os.stat(self.path("log.jsonl")).st_mtime_ns
        out, _ = self.expect(0, "tune", *SMALL, *FEW, "--log", "log.jsonl")
        self.assertIn("resumed 3 of 3 trials from log.jsonl", out)
        self.assertEqual(os.stat(self.path("log.jsonl")).st_mtime_ns, before)
        if os.geteuid() != 0:  # root may write to it
            _, err = self.expect(2, "tune", *SMALL, "--trials", "4", "--log", "log.jsonl")
            self.assertIn("cannot write log.jsonl: Permission denied", err)

    def test_a_truncated_log_costs_its_last_line_only(self):
        self.expect(0, "tune", *SMALL, *FEW, "--log", "log.jsonl")
        with open(self.path("log.jsonl")) as file:
            lines = file.read().splitlines(keepends=True)
        cut = max(i for i, line in enumerate(lines) if '"kind":"trial"' in line)
        self.write("log.jsonl", "".join(lines[:cut]) + lines[cut][:200])
        _, err = self.expect(0, "tune", *SMALL, *FEW, "--log", "log.jsonl")
        self.assertIn(f"log.jsonl:{cut + 1}: torn line skipped", err)

    def test_decimal_commas(self):
        known = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
        german = next((name for name in known if name.startswith(("de_DE", "fr_FR"))), None)
        environment = {"LC_ALL": german}
        if german is None:
            folder = self.path("locales")
            os.mkdir(folder)
            made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "de_DE.UTF-8")],
                                  capture_output=True)
            if made.returncode not in (0, 1) or not os.listdir(folder):
                self.skipTest("no locale with decimal commas here, and none can be made")
            environment = {"LC_ALL": "de_DE.UTF-8", "LOCPATH": folder}
        self.expect(0, "tune", *SMALL, *FEW, "--log", "log.jsonl", env=environment)
        for trial in self.trials():
            self.assertIsInstance(trial["outcome"]["median_seconds"], float)
        out, _ = self.expect(0, "tune", *SMALL, *FEW, "--log", "log.jsonl", env=environment)
        self.assertIn("resumed 3 of 3", out)
        self.write("case.json", json.dumps({"op": "sum", "shape": [2], "data": [0.5, 0.25]}))
        out, _ = self.expect(0, "run", "case.json", "--json", env=environment)
        self.assertEqual(json.loads(out)["outputs"]["out"]["data"], [0.75])

    def test_paths_with_blanks_and_letters(self):
        folder = self.path("mein Ordner für π")
        os.mkdir(folder)
        environment = {"TMPDIR": folder, "XDG_CACHE_HOME": os.path.join(folder, "kæche"), "HOME": folder}
        log, configs = "mein Ordner für π/log ä.jsonl", "mein Ordner für π/configs ö"
        self.expect(0, "tune", *SMALL, *FEW, "--log", log, "--configs", configs, env=environment)
        self.assertEqual(len({line["schedule"] for line in self.trials(log)}), 3)
        self.expect(0, "run", *SMALL, "--config", configs, env=environment)

    def test_the_head_of_a_log_tells_what_makes_times_comparable(self):
        self.expect(0, "tune", *SMALL, *FEW, "--seed", "5", "--log", "log.jsonl")
        head = self.lines()[0]
        for key in ("time", "version", "command_line", "seed", "device", "driver", "host", "operator", "target",
                    "strategy", "timing", "device_facts", "data_seed", "samples", "host_cores", "host_load"):
            self.assertIn(key, head)
        self.assertEqual(head["seed"], 5)
        self.assertIn("--seed 5", head["command_line"])
        self.assertIn("clock_policy", head["device_facts"])
        self.assertGreaterEqual(head["host_load"], 0)


if __name__ == "__main__":
    main()
