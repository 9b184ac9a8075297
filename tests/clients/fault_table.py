#!/usr/bin/env python3
"""Which test notices which fault: runs the tests of a build with SKGEMM_FAULT_INJECTION=ON once per fault.

    cmake -S . -B build-faults -G Ninja -DSKGEMM_FAULT_INJECTION=ON && ninja -C build-faults
    python3 tests/clients/fault_table.py build-faults

On a machine without CTest, name the GoogleTest programs and the folder of bundle.sh instead of the build:

    python3 tests/clients/fault_table.py --program build-faults/tests/gpu/skgemm_gpu_tests --bundle FOLDER \\
        --library build-faults/libskgemm.so

A row is one test; the cases of a GoogleTest program are joined to one row. `Y` means the test failed with the fault
in, as it should; `.` that it passed all the same; `t` that it ran out of time, which counts as not noticed; `s` that it
was skipped. The column `none` has no fault: a test that fails there notices nothing and gets no row. The exit code is 0
when all pass there and each fault is noticed by enough tests.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

FAULTS = {
    "none": ({}, "no fault: all must pass"),
    "nan": ({"SKGEMM_FAULT": "nan"}, "C(1,1) is NaN"),
    "tail": ({"SKGEMM_FAULT": "tail"}, "the last column keeps its old values"),
    "row": ({"SKGEMM_FAULT": "row"}, "the last row keeps its old values"),
    "trans": ({"SKGEMM_FAULT": "trans"}, "op(B) = T is ignored where B is square"),
    "beta0": ({"SKGEMM_FAULT": "beta0"}, "beta = 0 gives A*B + 0*C"),
    "pad": ({"SKGEMM_FAULT": "pad"}, "NaN is written between the rows m and ldc"),
    "eps": ({"SKGEMM_FAULT": "eps"}, "every element is off by 1e-10 (d), 1e-5 (s), 1e-2 (h)"),
    "tail-1e5": ({"SKGEMM_FAULT": "tail", "SKGEMM_FAULT_MIN": "1e5"}, "tail, where m*n*k >= 1e5"),
    "big-tail": ({"SKGEMM_FAULT": "big-tail"}, "tail, where m*n*k >= 1e6"),
    "tail-256": ({"SKGEMM_FAULT": "tail", "SKGEMM_FAULT_MIN": "16777216"}, "tail, where m*n*k >= 256^3"),
}


SECONDS = 150  # one test program
# Tests in which no product of the library runs: the schedules on the host executor, the source tree, the packaging.
WITHOUT_THE_LIBRARY = r"^(client_not_reached$|house_test|schedule_test|fixup_|select_test|support_test|bench_|install_)"


def environment(fault):
    clean = {name: value for name, value in os.environ.items() if name not in ("SKGEMM_FAULT", "SKGEMM_FAULT_MIN")}
    return dict(clean, **FAULTS[fault][0])


def join(results, name, status):
    """A row has failed when one of its cases has."""
    order = ["skip", "run", "timeout", "fail"]
    results[name] = max(results.get(name, status), status, key=order.index)


def run_ctest(arguments, fault):
    """test -> "skip", "run", "timeout" or "fail"."""
    results = {}
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = ["ctest", "--test-dir", arguments.build, "-j", str(arguments.jobs), "--timeout", str(SECONDS),
                   "--output-junit", report.name, "-L", arguments.labels, "-E", WITHOUT_THE_LIBRARY]
        command += ["-R", arguments.tests] if arguments.tests else []
        subprocess.run(command, env=environment(fault), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cases = xml.etree.ElementTree.parse(report.name).getroot().findall("testcase")
    for case in cases:
        name, status = case.get("name"), case.get("status")
        failure = case.find("failure")
        if failure is not None and "timeout" in failure.get("message", "").lower():
            status = "timeout"
        # program.Suite.Case is a case of `program`
        name = name.split(".")[0] if name.count(".") >= 2 else name
        join(results, name, {"notrun": "skip", "disabled": "skip"}.get(status, status))
    return results


def run_program(program, arguments, fault):
    """suite -> status of one GoogleTest program; the program's own name where it crashed or ran out of time."""
    results, name = {}, pathlib.Path(program).name
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report.xml"
        command = [program, f"--gtest_output=xml:{report}", f"--gtest_filter={arguments.tests or '*'}"]
        try:
            code = subprocess.run(command, env=environment(fault), timeout=SECONDS, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL).returncode
        except subprocess.TimeoutExpired:
            return {name: "timeout"}
        if not os.path.exists(report):
            return {name: "fail"}
        suites = xml.etree.ElementTree.parse(report).getroot().findall("testsuite")
    for suite in suites:
        all_skipped = suite.get("skipped") == suite.get("tests")
        status = "fail" if suite.get("failures") != "0" else "skip" if all_skipped else "run"
        join(results, f"{name}.{suite.get('name').split('/')[-1]}", status)
    if code != 0 and "fail" not in results.values():
        results[name] = "fail"
    return results


def run_bundle(arguments, fault):
    """client -> status, of the programs in a folder made by bundle.sh."""
    command = [f"{arguments.bundle}/run.sh", arguments.library, *arguments.clients.split()]
    output = subprocess.run(command, env=environment(fault), text=True, errors="replace", capture_output=True).stdout
    marks = {"passed": "run", "FAILED": "fail", "skipped": "skip"}
    words = [line.split() for line in output.splitlines()]
    results = {f"client_{w[1].rstrip(':')}": marks[w[0]] for w in words if len(w) > 1 and w[0] in marks}
    return {name: "timeout" if f"{name[7:]}: no end after" in output else status for name, status in results.items()}


def run_tests(arguments, fault):
    results = run_ctest(arguments, fault) if arguments.build else {}
    for program in arguments.program:
        results.update(run_program(program, arguments, fault))
    if arguments.bundle:
        results.update(run_bundle(arguments, fault))
    return results


def table(results, faults):
    tests = sorted({test for column in results.values() for test in column})
    lines = ["| test | " + " | ".join(faults) + " |", "|---" * (len(faults) + 1) + "|"]
    seeing = [test for test in tests if any(results[fault].get(test) in ("fail", "timeout") for fault in faults)]
    for test in seeing:
        mark = {"fail": "Y", "run": ".", "skip": "s", "timeout": "t"}
        marks = [mark[results[fault].get(test, "skip")] for fault in faults]
        lines.append(f"| {test} | " + " | ".join(marks) + " |")
    blind = [test for test in tests if test not in seeing]
    if blind:
        lines.append(f"\nNo fault shows in: {', '.join(blind)}.")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", help="a build with -DSKGEMM_FAULT_INJECTION=ON, run by CTest")
    parser.add_argument("--program", action="append", default=[], help="a GoogleTest program to run directly")
    parser.add_argument("--bundle", help="a folder made by bundle.sh; needs --library")
    parser.add_argument("--clients", default="", help="only these clients of the bundle, separated by blanks")
    parser.add_argument("--library", help="libskgemm.so with the faults, for --bundle")
    parser.add_argument("--faults", default=",".join(FAULTS), help="comma-separated; all: %(default)s")
    parser.add_argument("--tests", help="only these tests: an expression for CTest, a filter for --program")
    parser.add_argument("--labels", default="cpu|abi|clients|gpu", help="CTest labels (default: %(default)s)")
    parser.add_argument("--require", type=int, default=2, help="tests that must notice each fault (default: 2)")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if not (arguments.build or arguments.program or arguments.bundle):
        parser.error("name a build, a --program or a --bundle")
    if arguments.bundle and not arguments.library:
        parser.error("--bundle needs --library")
    faults = ["none", *(fault for fault in arguments.faults.split(",") if fault != "none")]
    results, unfit = {}, set()
    for fault in faults:
        results[fault] = run_tests(arguments, fault)
        counts = collections.Counter(results[fault].values())
        outcome = f"{counts['fail']} failed, {counts['run']} passed, {counts['skip']} skipped"
        print(f"{fault:9s} {FAULTS[fault][1]}: {outcome}", file=sys.stderr, flush=True)
        if fault == "none":
            unfit = {test for test, status in results[fault].items() if status == "fail"}
        results[fault] = {test: status for test, status in results[fault].items() if test not in unfit}
    print(table(results, faults))
    complaints = [f"without a fault these fail: {' '.join(sorted(unfit))}"] if unfit else []
    for fault in faults:
        noticed = [test for test, status in results[fault].items() if status == "fail"]
        if fault != "none" and len(noticed) < arguments.require:
            complaints.append(f"{fault} is noticed by {len(noticed)} tests, {arguments.require} are asked for")
    if not any(status == "run" for status in results[faults[0]].values()):
        complaints.append("no test ran: is this a build with tests?")
    for words in complaints:
        print("FAILED", words)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
