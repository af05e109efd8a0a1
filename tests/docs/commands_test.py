#!/usr/bin/env python3
"""Runs the commands that README.md and docs/ mark as runnable: ```sh blocks right behind a line `<!-- run -->`.

`<!-- run: nvrtc -->` marks a block that may exit with code 4 (no NVRTC here). Searches get few trials: what is tested is
that the commands work as they are written, not what they find. Each document runs in a directory of its own.

usage: REDTUNE_PROGRAM=PATH commands_test.py
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("REDTUNE_PROGRAM", str(ROOT / "build/bin/redtune"))
BLOCK = re.compile(r"^<!-- run(?:: (?P<needs>\w+))? -->\n```sh\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LESS_WORK = [(re.compile(r"--trials \d+"), "--trials 2"), (re.compile(r"--time \S+"), "--time 6s"),
             (re.compile(r"--sample \d+"), "--sample 1")]
SECONDS = 120
NO_DEVICE = 4


def blocks(path):
    """(needs or None, commands) of each runnable block of a document."""
    found = []
    for match in BLOCK.finditer(path.read_text()):
        commands = [line for line in match["text"].splitlines() if line.strip() and not line.startswith("#")]
        found.append((match["needs"], commands))
    return found


def shortened(command):
    for pattern, replacement in LESS_WORK:
        command = pattern.sub(replacement, command)
    return command.replace("build/bin/redtune", shlex.quote(PROGRAM))


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

    def test_links_lead_somewhere(self):
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
                self.assertTrue((path.parent / target).exists(), f"{path.name}: {target} is not there")

    def test_named_files_exist(self):
        name = re.compile(r"`((?:support|space|codegen|logs|measure|configs|tuner|tests)/[\w/.-]+\.(?:h|cpp|cuh|cl|py|json))`")
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            for file in name.findall(path.read_text()):
                if not re.search(r"[A-Z]{2}", file):
                    self.assertTrue((ROOT / file).exists(), f"{path.name}: {file} is not there")


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, verbosity=2).result.wasSuccessful())
