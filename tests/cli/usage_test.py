#!/usr/bin/env python3
"""Exit codes and messages that need no device."""
import json
import os

from redtune import NO_DEVICE, SMALL, CommandLine, main

VERBS = ["tune", "space", "show", "run", "compile", "import", "train", "replay", "explain", "predict", "export", "best", "bench", "report",
         "configs", "devices", "targets", "counters", "doctor", "version"]


class Usage(CommandLine):
    def test_no_arguments_prints_the_usage(self):
        out, err = self.expect(2)
        self.assertIn("usage: redtune VERB", err)
        self.assertEqual(out, "")

    def test_unknown_verb_names_the_nearest(self):
        _, err = self.expect(2, "tnue")
        self.assertIn("did you mean 'tune'?", err)

    def test_help_of_every_verb_has_an_example(self):
        self.assertIn("exit codes", self.expect(0, "--help")[0])
        for verb in VERBS:
            out, _ = self.expect(0, verb, "--help")
            self.assertIn(f"redtune {verb}", out)
            self.assertIn("examples:", out)

    def test_unknown_option_names_the_nearest(self):
        _, err = self.expect(2, "tune", *SMALL, "--trails", "5")
        self.assertIn("unknown option '--trails'; did you mean '--trials'?", err)

    def test_version(self):
        self.assertTrue(self.expect(0, "version")[0].startswith("redtune "))
        self.assertEqual(self.expect(0, "--version"), self.expect(0, "version"))

    def test_missing_operator_says_how_to_give_one(self):
        self.assertIn("--op NAME --shape SIZES", self.expect(2, "space")[1])

    def test_operator_name_instead_of_a_file(self):
        self.assertIn("use --op sum", self.expect(2, "space", "sum")[1])

    def test_file_and_short_form_exclude_each_other(self):
        self.expect(2, "space", "x.json", *SMALL)

    def test_no_option_of_the_short_form_is_ignored_beside_a_file(self):
        self.write("case.json", '{"op": "sum", "shape": [4, 4], "axes": [1]}')
        for words in (["--op", "max"], ["--shape", "4x4"], ["--axes", "0"], ["--dtype", "f64"], ["--out", "f64"],
                      ["--strides", "4x1"], ["--ddof", "1"], ["--keepdims"]):
            for verb in ("space", "show", "run", "tune", "best"):
                self.assertIn(words[0], self.expect(2, verb, "case.json", *words)[1])
        self.expect(0, "space", "case.json", "--determinism", "run_to_run", "--target", "cpu")

    def test_short_form_without_a_shape(self):
        for verb in ("space", "run", "tune", "best"):
            self.assertIn("no shape beside --op", self.expect(2, verb, "--op", "max", "--axes", "1")[1])

    def test_empty_values_are_not_taken_for_missing_ones(self):
        for verb, options in (("space", ("--axes", "--target", "--mapping", "--why", "--determinism", "--strides")),
                              ("run", ("--device", "--schedule", "--config", "--input", "--output", "--pattern")),
                              ("tune", ("--time", "--log", "--configs", "--model"))):
            for option in options:
                self.assertIn(f"{option}: the value is empty", self.expect(2, verb, "--shape", "64", option, "")[1])

    def test_whole_numbers_neither_wrap_nor_saturate(self):
        compile_words = ["compile", *SMALL, "--target", "sm_80"]
        for words in (["run", *SMALL, "--seed"], ["tune", *SMALL, "--seed"], ["space", *SMALL, "--list"],
                      [*compile_words, "--sample"], [*compile_words, "--seed"], ["verify", *SMALL, "--sample"],
                      ["verify", *SMALL, "--seed"], ["fuzz", "--cases"], ["fuzz", "--per-mapping"],
                      ["train", "x.jsonl", "-o", "m", "--seed"], ["replay", "x", "--repeats"], ["replay", "x", "--batch"]):
            for value in ("-1", "18446744073709551616", "0x10", "010", "1.5", "many"):
                self.assertIn(words[-1], self.expect(2, *words, value)[1])
        for value in ("-1", "0", "99999999999"):
            self.assertIn("--jobs", self.expect(2, *compile_words, "--sample", "1", "--jobs", value)[1])

    def test_what_checks_nothing_is_no_success(self):
        for words in (["verify", *SMALL], ["compile", *SMALL, "--target", "sm_80"]):
            self.assertIn("--sample 0 checks nothing", self.expect(2, *words, "--sample", "0")[1])
        _, err = self.expect(3, "compile", "--op", "var", "--shape", "64x64", "--axes", "1", "--mapping", "atomic", "--target",
                             "sm_90", "--all")
        self.assertIn("warp+atomic: ", err)

    def test_logs_that_are_not_there(self):
        for words in (["explain", "none.jsonl"], ["train", "none.jsonl", "-o", "m"], ["report", "none.jsonl"]):
            self.assertIn("none.jsonl: no such file", self.expect(2, *words)[1])

    def test_a_gpu_that_is_not_there_is_no_misspelling(self):
        if '"cuda' not in self.run_redtune("devices", "--json")[1]:
            self.assertIn("no device 'cuda:7'", self.expect(4, "tune", *SMALL, "--device", "cuda:7")[1])

    def test_help_of_a_verb_either_way(self):
        for verb in VERBS:
            self.assertEqual(self.expect(0, "help", verb), self.expect(0, verb, "--help"))
        self.assertIn("did you mean 'tune'?", self.expect(2, "help", "tnue")[1])

    def test_bad_operator_file_names_file_and_field(self):
        self.write("bad.json", '{"op": "sum", "shape": [4, -1]}')
        _, err = self.expect(2, "space", "bad.json", "--target", "cpu")
        self.assertIn("bad.json", err)
        self.assertIn("shape", err)

    def test_duplicate_key_is_named(self):
        self.write("twice.json", '{"op": "sum", "shape": [4], "op": "max"}')
        self.assertIn('duplicate key "op"', self.expect(2, "space", "twice.json")[1])

    def test_bare_nan_is_a_syntax_error_with_a_place(self):
        self.write("nan.json", '{"op": "sum", "shape": [1],\n "data": [NaN]}')
        self.assertIn("line 2, column", self.expect(2, "space", "nan.json")[1])

    def test_bad_values_of_options(self):
        for words in (["--trials", "0"], ["--trials", "-3"], ["--time", "soon"], ["--strategy", "magic"],
                      ["--mapping", "forest"], ["--seed", "x"]):
            self.expect(2, "tune", *SMALL, *words)
        self.assertFalse(os.path.exists(self.path("redtune-out")))


class Space(CommandLine):
    def test_counts(self):
        count = int(self.expect(0, "space", *SMALL, "--target", "cpu", "--count")[0])
        document = json.loads(self.expect(0, "space", *SMALL, "--target", "cpu", "--json")[0])
        self.assertEqual(document["size"], count)
        self.assertEqual(sum(row["schedules"] for row in document["mappings"]), count)

    def test_each_mapping_is_explained(self):
        out, _ = self.expect(0, "space", *SMALL, "--target", "sm_80")
        self.assertIn("shared-memory tree in the block, every block adds to the output by an atomic", out)
        rows = [line.split(None, 3) for line in out.split("schedules\n")[-1].splitlines()]
        self.assertTrue(all(len(row) == 4 for row in rows), out)

    def test_lists_schedules_that_are_legal(self):
        out, _ = self.expect(0, "space", *SMALL, "--target", "sm_80", "--list", "5")
        lines = out.splitlines()
        self.assertEqual(len(lines), 5)
        for line in lines:
            self.expect(0, "space", *SMALL, "--target", "sm_80", "--why", line)

    def test_illegal_schedule_tells_the_constraint(self):
        _, err = self.expect(2, "space", *SMALL, "--target", "sm_80", "--why", "block=tree rx=4096")
        self.assertIn("is not legal", err)
        self.assertIn("4096", err)

    def test_why_answers_in_json_either_way(self):
        words = ["space", *SMALL, "--target", "sm_80", "--json", "--why"]
        legal = json.loads(self.expect(0, *words, "block=tree rx=64")[0])
        self.assertTrue(legal["legal"])
        self.assertEqual((legal["class"], legal["determinism"]), ("tree", "run_to_run"))
        illegal = json.loads(self.expect(2, *words, "block=tree rx=4096")[0])
        self.assertFalse(illegal["legal"])
        self.assertIn("4096", illegal["reason"])

    def test_options_that_exclude_each_other(self):
        for words in (["--isl", "--json"], ["--isl", "--count"], ["--list", "3", "--count"]):
            self.assertIn("excludes", self.expect(2, "space", *SMALL, "--target", "cpu", *words)[1])
        self.assertIn("excludes", self.expect(2, "compile", *SMALL, "--target", "sm_80", "--all", "--sample", "2")[1])

    def test_empty_space_tells_the_reason_of_each_mapping_asked_for(self):
        words = [*SMALL, "--target", "sm_80", "--mapping", "atomic", "--determinism", "run_to_run"]
        _, err = self.expect(3, "show", *words)
        self.assertIn("none+atomic: determinism: ", err)
        self.assertNotIn("tree", err)
        _, err = self.expect(3, "show", "--op", "sum", "--shape", "64x32", "--axes", "1", "--target", "sm_80",
                             "--mapping", "shuffle+last_block")
        self.assertIn("shuffle+last_block: no size fits", err)

    def test_atomics_on_states_are_refused_with_the_reason(self):
        words = ["--op", "argmax", "--shape", "64x4096", "--axes", "1", "--target", "sm_90"]
        forced = "block=tree grid=atomic rx=64 split=4"
        for verb, option in (("space", "--why"), ("show", "--schedule")):
            out, err = self.expect(2, verb, *words, option, forced)
            self.assertIn("an atomic changes one", out + err)
            self.assertIn("atomic_state", out + err)

    def test_ddof_belongs_to_variances(self):
        self.assertIn("belongs to var and std", self.expect(2, "space", *SMALL, "--ddof", "1", "--target", "cpu")[1])
        self.expect(0, "space", "--op", "std", "--shape", "64x256", "--ddof", "1", "--target", "cpu")

    def test_malformed_schedule_names_the_field(self):
        self.assertIn("rxx", self.expect(2, "space", *SMALL, "--target", "cpu", "--why", "rxx=4")[1])

    def test_unknown_target_names_the_nearest(self):
        self.assertIn("sm_90", self.expect(2, "space", *SMALL, "--target", "sm_9")[1])

    def test_determinism_takes_float_atomics_away(self):
        words = ["space", *SMALL, "--target", "sm_80", "--mapping", "atomic", "--count"]
        self.assertNotEqual(self.expect(0, *words)[0].strip(), "0")
        self.assertEqual(self.expect(0, *words, "--determinism", "run_to_run")[0].strip(), "0")

    def test_isl_text(self):
        self.assertIn("{", self.expect(0, "space", *SMALL, "--target", "cpu", "--isl")[0])


class WithoutDevice(CommandLine):
    def test_verbs_that_need_none_work(self):
        for words in (["space", *SMALL], ["show", *SMALL], ["show", *SMALL, "--target", "sm_80"], ["targets"],
                      ["best"], ["doctor"], ["version"]):
            self.expect(0, *words, env=NO_DEVICE)

    def test_doctor_says_once_what_is_missing(self):
        out, _ = self.expect(0, "doctor", env={**NO_DEVICE, "REDTUNE_CUDA_DRIVER": "/nonexistent/libcuda.so"})
        self.assertEqual(out.count("/nonexistent/libcuda.so is not here"), 1, out)
        self.assertIn("see CUDA driver", out)

    def test_others_say_what_is_missing(self):
        for words in (["tune", *SMALL], ["run", *SMALL], ["devices"]):
            _, err = self.expect(4, *words, env=NO_DEVICE)
            self.assertIn("no device", err)
        self.assertFalse(os.path.exists(self.path("redtune-out")))

    def test_show_prints_every_stage(self):
        out, _ = self.expect(0, "show", *SMALL, "--target", "sm_90", env=NO_DEVICE)
        for part in ("canonical PR", "isl domain", "isl dependences", "isl schedule tree", "plan", "kernel text",
                     "RT_KERNEL(", "launch "):
            self.assertIn(part, out)

    def test_forced_illegal_schedule(self):
        self.expect(2, "show", *SMALL, "--target", "sm_90", "--schedule", "block=warp rx=64 px=64")


class Counters(CommandLine):
    def test_metrics_of_every_shipped_architecture(self):
        for target in ("sm_75", "sm_80", "sm_90", "sm_100"):
            code, out, err = self.run_redtune("counters", "--target", target, "--json")
            if code == 4:
                self.skipTest(err.strip())
            self.assertEqual(code, 0, err)
            listed = json.loads(out)
            self.assertGreater(listed["passes"], 0)
            self.assertEqual([row["name"] for row in listed["counters"] if not row["available"] or not row["unit"]], [])

    def test_library_that_is_missing_or_too_old(self):
        _, err = self.expect(4, "counters", "--target", "sm_90", env={"REDTUNE_CUPTI": "/nonexistent/libcupti.so"})
        self.assertIn("REDTUNE_CUPTI", err)

    def test_targets_without_counters(self):
        self.assertIn("give a CUDA target", self.expect(2, "counters", "--target", "cpu")[1])
        self.expect(2, "counters")


class Best(CommandLine):
    def test_empty_store(self):
        self.assertIn("no configs yet", self.expect(0, "best")[0])
        self.assertEqual(json.loads(self.expect(0, "best", "--json")[0]), [])

    def test_miss_is_told(self):
        self.assertIn("no config for sum(", self.expect(3, "best", *SMALL)[1])

    def test_foreign_file_is_refused(self):
        os.makedirs(self.path("redtune-out/configs/cpu"))
        self.write("redtune-out/configs/cpu/sum.json", "{}")
        self.assertIn("is not a redtune config file", self.expect(2, "best")[1])


if __name__ == "__main__":
    main()
