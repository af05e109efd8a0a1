#!/usr/bin/env python3
"""Runs the commands that README.md and docs/ mark as runnable: ```sh blocks right behind a line `<!-- run -->`.

`<!-- run: nvrtc -->` marks a block that may exit with code 4 (no NVRTC here). Searches get few trials: what is tested is
that the commands work as they are written, not what they find. Each document runs in a directory of its own.

usage: REDTUNE_PROGRAM=PATH commands_test.py
"""
import math
import os
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("REDTUNE_PROGRAM", str(ROOT / "build/bin/redtune"))
BLOCK = re.compile(r"^<!-- run(?:: (?P<needs>\w+))? -->\n```sh\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LESS_WORK = [(re.compile(r"--trials \d+"), "--trials 2"), (re.compile(r"--time \S+"), "--time 20s"),
             (re.compile(r"--sample \d+"), "--sample 1"), (re.compile(r"--rounds \d+"), "--rounds 1"),
             (re.compile(r"--peak-trials \d+"), "--peak-trials 0")]
SECONDS = 120
NO_DEVICE = 4


def blocks(path):
    """(needs or None, commands) of each runnable block of a document."""
    found = []
    for match in BLOCK.finditer(path.read_text()):
        found.append((match["needs"], list(commands_of(match["text"]))))
    return found


def commands_of(text):
    """A line each, and a here-document with its lines."""
    lines = iter(text.splitlines())
    for line in lines:
        here = re.search(r"<<'(\w+)'$", line)
        if here:
            for more in lines:
                line += "\n" + more
                if more == here[1]:
                    break
        if line.strip() and not line.startswith("#"):
            yield line


def shortened(command):
    for pattern, replacement in LESS_WORK:
        command = pattern.sub(replacement, command)
    return command.replace("build/bin/redtune", shlex.quote(PROGRAM))


def less_of_an_example(command):
    if " tune " in command:  # the limit of time stays: on a busy machine less would find nothing
        return re.sub(r" --trials \d+", "", command).replace("build/bin/redtune", shlex.quote(PROGRAM)) + " --trials 2"
    if " compile " in command:
        command = command.replace(" --all", "") + " --sample 1"
    if " verify " in command:
        command = re.sub(r" --all-schedules| --sample \d+", "", command) + " --sample 1"
    command = re.sub(r"--seconds \S+", "--seconds 1", command)
    return shortened(command)


def write_npy(path, shape):
    """Zeros in f32, as NumPy writes them; NumPy itself need not be here."""
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(4 * math.prod(shape)))


class Commands(unittest.TestCase):
    def run_document(self, path):
        with tempfile.TemporaryDirectory(prefix="redtune-docs-") as directory:
            for needs, commands in blocks(path):
                for command in commands:
                    done = subprocess.run(shortened(command), shell=True, cwd=directory, text=True, timeout=SECONDS,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    allowed = (0, NO_DEVICE) if needs == "nvrtc" else (0,)
                    self.assertIn(done.returncode, allowed, f"{path.name}: {command}\n{done.stdout}")

    def test_readme(self):
        self.assertGreaterEqual(len(blocks(ROOT / "README.md")), 3)
        self.run_document(ROOT / "README.md")

    def test_every_field_of_a_schedule_is_explained(self):
        schedule = subprocess.run([PROGRAM, "space", "--op", "sum", "--shape", "64x256", "--axes", "1", "--target", "cpu",
                                   "--list", "1"], text=True, check=True, stdout=subprocess.PIPE).stdout
        section = (ROOT / "docs/formats.md").read_text().split("## Schedule")[1].split("\n## ")[0]
        fields = [word.split("=")[0] for word in schedule.split()]
        self.assertIn("split", fields)
        for field in fields:
            self.assertRegex(section, rf"(?m)^\|.*`{field}`.*\|.*\|$")

    def test_docs(self):
        for path in sorted((ROOT / "docs").glob("*.md")):
            with self.subTest(path.name):
                self.run_document(path)

    def test_examples_of_the_help(self):
        """As they are printed, with less work to do; the files they name are there."""
        case = '{"op": "sum", "shape": [2, 3], "axes": [1], "data": [1, 2, 3, 4, 5, 6]}'
        usage = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
        verbs = re.findall(r"^  (\w+) {2,}", usage.split("verbs:")[1], re.MULTILINE)
        self.assertIn("tune", verbs)
        with tempfile.TemporaryDirectory(prefix="redtune-help-") as directory:
            for name in ("case.json", "first.json", "second.json"):
                pathlib.Path(directory, name).write_text(case)
            write_npy(pathlib.Path(directory, "x.npy"), (64, 64))
            for verb in sorted(verbs, key=lambda verb: verb != "tune"):  # what it writes is read by others
                text = subprocess.run([PROGRAM, verb, "--help"], capture_output=True, text=True, check=True).stdout
                for line in text.split("examples:")[1].splitlines():
                    # Recorded spaces, stores and logs of others, models and the time for whole suites are not at hand;
                    # the README's commands and tests/cli stand for them.
                    if not line.strip() or re.search(
                            r"\.gz|\.info|\.model|--oclgrind|bench \w+_\w+|portfolio \w+_\w+|bench/|run\.jsonl|from-another-machine|old/", line):
                        continue
                    command = re.sub(r"^ *redtune", "build/bin/redtune", line)
                    done = subprocess.run(less_of_an_example(command), shell=True, cwd=directory, text=True,
                                          timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    allowed = {0, NO_DEVICE} if verb in ("compile", "counters", "predict", "export") else {0}
                    if "--why" in line:
                        allowed = {0, 2}
                    self.assertIn(done.returncode, allowed, f"{line}\n{done.stdout}")

    def test_links_lead_somewhere(self):
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
                self.assertTrue((path.parent / target).exists(), f"{path.name}: {target} is not there")

    def test_named_files_exist(self):
        name = re.compile(r"`((?:support|space|codegen|logs|measure|configs|tuner|bench|tests)/[\w/.-]+\.(?:h|cpp|cu|cuh|cl|py|json))`")
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            for file in name.findall(path.read_text()):
                if not re.search(r"[A-Z]{2}", file):
                    self.assertTrue((ROOT / file).exists(), f"{path.name}: {file} is not there")


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, verbosity=2).result.wasSuccessful())
