#!/usr/bin/env python3
"""The verbs that look for wrong answers: verify, fuzz, and run on the inputs that they name."""
import json
import os
import shutil
import stat
import unittest

from redtune import PROGRAM, CommandLine, main

TINY = ["--op", "max", "--shape", "5x33", "--axes", "1"]
QUICK = ["--no-optimize", "--jobs", "1"]


class Faulty(CommandLine):
    """Runs with a worker that spoils what it computes."""

    def environment(self, fault):
        real = os.path.join(os.path.dirname(PROGRAM), "redtune-worker")
        script = self.path(self.write("worker", f'#!/bin/sh\nREDTUNE_WORKER_FAULT={fault} exec "{real}" "$@"\n'))
        os.chmod(script, os.stat(script).st_mode | stat.S_IXUSR)
        return {"REDTUNE_WORKER": script}


class Verify(Faulty):
    def test_table_by_mapping_and_exit_code(self):
        out, _ = self.expect(0, "verify", *TINY, "--sample", "1", *QUICK)
        for part in ("operator max f32 5,[33]", "device ", "inputs   random, zeros", "nan_at_borders", "worst error",
                     "tree+second_kernel", "lane+atomic", "schedules checked in"):
            self.assertIn(part, out)

    def test_bound_of_integers_that_the_accumulator_rounds(self):
        self.expect(0, "verify", "--op", "compensated_mean", "--dtype", "i64", "--shape", "17x20", "--axes", "0", "--sample", "1",
                    "--mapping", "none", *QUICK)

    def test_json_counts_what_the_table_counts(self):
        out, _ = self.expect(0, "verify", *TINY, "--sample", "2", "--mapping", "tree", *QUICK, "--json")
        result = json.loads(out)["results"][0]
        self.assertEqual(result["failed"], 0)
        self.assertEqual(result["failures"], [])
        self.assertEqual(result["schedules"], sum(row["schedules"] for row in result["mappings"].values()))
        self.assertGreaterEqual(result["runs"], 10 * result["schedules"])
        self.assertTrue(all("atomic" not in mapping for mapping in result["mappings"]))
        self.assertEqual(result["seed"], 1)

    def test_wrong_answers_fail_with_the_line_that_repeats_them(self):
        out, _ = self.expect(1, "verify", *TINY, "--sample", "1", "--mapping", "tree", *QUICK,
                             env=self.environment("nan"))
        self.assertIn("wrong_result on ", out)
        line = next(line for line in out.splitlines() if line.strip().startswith("redtune run "))
        self.assertIn("--pattern ", line)
        self.assertIn("--schedule ", line)

    def test_bad_words(self):
        self.assertIn("--races needs --oclgrind", self.expect(2, "verify", *TINY, "--races")[1])
        self.assertIn("one of --all-schedules and --sample",
                      self.expect(2, "verify", *TINY, "--all-schedules", "--sample", "2")[1])
        self.expect(2, "verify")

    @unittest.skipUnless(shutil.which("oclgrind"), "oclgrind is not installed")
    def test_under_oclgrind(self):
        out, _ = self.expect(0, "verify", "--op", "sum", "--shape", "3x17", "--axes", "1", "--sample", "1", "--mapping",
                             "tree", "--oclgrind", "--jobs", "1")
        self.assertIn("under Oclgrind", out)


class Fuzz(Faulty):
    def test_counts_by_property_and_goes_on_behind_its_log(self):
        words = ["fuzz", "--seed", "3", "--log", "fuzz.jsonl", *QUICK]
        out, _ = self.expect(0, *words, "--cases", "12")
        for part in ("seed      3", "forms ", "operators ", "dtypes ", "layouts ", "worst error"):
            self.assertIn(part, out)
        with open(self.path("fuzz.jsonl")) as file:
            first = file.read().splitlines()
        with open(self.path("fuzz.jsonl"), "a") as file:
            file.write('{"number": 99, "fo')
        more, err = self.expect(0, *words, "--cases", "24", "--json")
        self.assertIn("is cut off", err)
        counts = json.loads(more)
        self.assertGreaterEqual(counts["schedules"], 24)
        for property in ("forms", "operators", "dtypes", "layouts"):
            self.assertEqual(sum(counts[property].values()), counts["schedules"], property)
        with open(self.path("fuzz.jsonl")) as file:
            lines = [json.loads(line) for line in file if line.startswith('{"number"') and line.endswith("}\n")]
        self.assertEqual(lines[:len(first)], [json.loads(line) for line in first])
        numbers = [line["number"] for line in lines]
        self.assertEqual(len(numbers), len(set(numbers)))
        self.assertIn("made with --seed 3", self.expect(2, "fuzz", "--seed", "4", "--log", "fuzz.jsonl", "--cases", "99")[1])

    def test_same_seed_same_cases(self):
        runs = [json.loads(self.expect(0, "fuzz", "--seed", "5", "--cases", "8", *QUICK, "--json")[0]) for _ in range(2)]
        for run in runs:
            del run["seconds"]
        self.assertEqual(runs[0], runs[1])

    def test_wrong_answers_fail(self):
        out, err = self.expect(1, "fuzz", "--seed", "3", "--cases", "4", *QUICK, env=self.environment("skip_last"))
        self.assertIn("wrong: wrong_result on ", err)
        self.assertIn("redtune run ", out)


class RunPattern(CommandLine):
    def outputs(self, *words):
        out, _ = self.expect(0, "run", "--op", "max", "--shape", "2x200", "--axes", "1", "--json", *words)
        return json.loads(out)["outputs"]["out"]["data"]

    def test_patterns_are_those_of_verify(self):
        self.assertEqual(self.outputs("--pattern", "nan_at_borders"), ["nan", "nan"])
        self.assertEqual(self.outputs("--pattern", "all_equal"), [1.25, 1.25])
        self.assertIn("inf", self.outputs("--pattern", "infinities"))
        self.assertNotEqual(self.outputs("--seed", "1"), self.outputs("--seed", "2"))
        self.assertEqual(self.outputs("--pattern", "random", "--seed", "2"), self.outputs("--seed", "2"))

    def test_unknown_pattern_names_the_nearest(self):
        _, err = self.expect(2, "run", "--op", "max", "--shape", "8", "--pattern", "infinites")
        self.assertIn("'infinities'", err)


if __name__ == "__main__":
    main()
