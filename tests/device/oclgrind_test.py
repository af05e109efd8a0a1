#!/usr/bin/env python3
"""Runs oclgrind_host under Oclgrind and fails on anything that Oclgrind reports, except what it gets wrong.

usage: oclgrind_test.py HOST races | uninitialized     exits 77 (skipped) when oclgrind is not installed

races: data races, and accesses outside of buffers. uninitialized: reads of what nobody wrote. Both without
optimization, because Oclgrind does not know all that LLVM's passes leave behind (freeze, scopes of aliases).
"""
import re
import shutil
import subprocess
import sys

SKIPPED = 77
FLAGS = {"races": "--data-races", "uninitialized": "--uninitialized"}
HOST_ARGUMENTS = {"races": [], "uninitialized": ["1", "untouched"]}


def known_to_be_wrong(case, report):
    """Why a report says nothing about the kernel; None when it counts."""
    if "grid=last_block" in case and "data race" in report:
        # Oclgrind knows the order that barriers make inside a group, not that of a ticket between groups. The partials
        # are read by the group that drew the last ticket, which also sets the ticket back.
        if "_PEEK(" in report or "rt_peek_" in report or re.search(r"ticket\[.*\] = 0;", report):
            return "groups ordered by a ticket"
    if "Controlflow depends" in report and "Kernel: rt_final" in report:
        if re.search(r"RT_FOLD\(|RT_STORE1\(", report):
            return "the halves of a vector"
    return None


def reports_of(text):
    """(case, report) of each message of Oclgrind."""
    case, report = "before the first case", []
    for line in text.splitlines() + ["case: end"]:
        if line.startswith(("case: ", "done: ", "wrong: ")):
            if report:
                yield case, "\n".join(report)
            report = []
            case = line if line.startswith("case: ") else case
        elif line.strip():
            if not line.startswith("\t") and report:
                yield case, "\n".join(report)
                report = []
            report.append(line)


def main():
    host, mode = sys.argv[1], sys.argv[2]
    if shutil.which("oclgrind") is None:
        print("oclgrind is not installed (apt install oclgrind)")
        return SKIPPED
    command = ["oclgrind", "--max-errors", "100000", FLAGS[mode], "--build-options", "-cl-opt-disable", host, *HOST_ARGUMENTS[mode]]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    failed, excused = 0, {}
    for case, report in reports_of(done.stdout):
        why = known_to_be_wrong(case, report)
        if why:
            excused[why] = excused.get(why, 0) + 1
            continue
        failed += 1
        if failed <= 10:
            print(f"{case}\n{report}\n")
    for line in done.stdout.splitlines():
        if line.startswith(("done: ", "wrong: ")):
            print(line)
    for why, count in excused.items():
        print(f"{count} reports left out: {why}")
    print(f"{failed} reports, exit status {done.returncode}: {' '.join(command)}")
    return 1 if failed or done.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
