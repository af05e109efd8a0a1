"""What the tests of the command line share: running the program in a directory of its own."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("REDTUNE_PROGRAM", "redtune")
NO_DEVICE = {"OCL_ICD_VENDORS": "/nonexistent", "CUDA_VISIBLE_DEVICES": ""}
SMALL = ["--op", "sum", "--shape", "64x256", "--axes", "1"]


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="redtune-cli-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return name

    def start(self, *words, env=None):
        return subprocess.Popen([PROGRAM, *words], cwd=self.directory, env={**os.environ, **(env or {})}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_redtune(self, *words, env=None):
        """(exit code, stdout, stderr)"""
        with self.start(*words, env=env) as process:
            out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def expect(self, code, *words, env=None):
        """Runs and checks the exit code; gives stdout and stderr."""
        got, out, err = self.run_redtune(*words, env=env)
        self.assertEqual(got, code, f"redtune {' '.join(words)}\n{out}\n{err}")
        return out, err


def main():
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
