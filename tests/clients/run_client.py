#!/usr/bin/env python3
"""Runs one unmodified program with libskgemm.so preloaded and decides whether all went well.

Three things must hold: the exit code is 0, the program's own verdict is the expected one (exact counts of lines;
netlib's testers exit 0 on failure too), and the library's log shows that the calls really came through it. With
SKGEMM_TEST_EXPECT=gpu every call is sent to the GPU (SKGEMM_OFFLOAD=always) and the log must show it ran there.
Exit codes: 0 passed, 1 failed, 77 the program is not on this machine (CTest: skipped).

    run_client.py --library build/libskgemm.so --programs build/tests/clients netlib_d
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time

sys.dont_write_bytecode = True
from client_table import clients

SKIPPED = 77
CALL = re.compile(r"\bcall=(\S+) .*?\bm=(-?\d+) n=(-?\d+) k=(-?\d+)\b.*? alpha=(\S+).*? on=(\w+)(.*)")


def system_python():
    """Debian's python3, whose numpy calls the system's BLAS, if numpy is there; else the one that runs this."""
    for python in ("/usr/bin/python3", sys.executable):
        if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    return None


def python_blas_reason(python):
    """Why numpy and scipy can't be clients here, or "" when they can."""
    probe = ("import numpy, scipy.linalg.blas; a = numpy.ones((2, 2)); a @ a; "
             "print(open('/proc/self/maps').read())")
    result = subprocess.run([python, "-c", probe], capture_output=True, text=True)
    if result.returncode != 0:
        return "numpy or scipy is not installed"
    if not re.search(r"/lib(blas|openblas|cblas)\.so", result.stdout):
        return "this numpy carries its own BLAS under other names, which can't be interposed"
    return ""


def reason_to_skip(client, python):
    if client.command[0] is None or not shutil.which(client.command[0]):
        return f"{client.command[0] or 'python3 with numpy'} is not on this machine"
    if client.stdin and not client.files[client.stdin]:
        return f"the tester's stock input is not beside {client.command[0]}"
    return python_blas_reason(python) if client.python_blas else ""


def environment(client, library, log, expect_gpu):
    env = dict(os.environ, SKGEMM_VERBOSE="1", SKGEMM_LOG=str(log), LD_PRELOAD=str(library))
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", PYTHONDONTWRITEBYTECODE="1")
    if expect_gpu:
        env["SKGEMM_OFFLOAD"] = "always"
    if client.library_path:
        env["LD_LIBRARY_PATH"] = ":".join([*client.library_path, *filter(None, [env.get("LD_LIBRARY_PATH")])])
    return env


def verdict_complaints(client, outputs):
    complaints = []
    for name, pattern, count in client.expect:
        found = len(re.findall(pattern, outputs(name), re.M))
        if found != count:
            complaints.append(f"{found} instead of {count} lines in {name} match: {pattern}")
    for name in {"stdout", "stderr", *(row[0] for row in client.expect)}:
        bad = re.search(client.absent, outputs(name), re.M)
        if bad:
            line = outputs(name)[:bad.start()].count("\n")
            complaints.append(f"{name}: {outputs(name).splitlines()[line].strip()}")
    return complaints


def read_log(log):
    """Calls by entry point, calls by who served them, and the first product the CPU computed outside a forked child."""
    calls, served, on_cpu = collections.Counter(), collections.Counter(), ""
    if log.exists():
        with log.open(errors="replace") as lines:
            for line in lines:
                match = CALL.search(line)
                if not match:
                    continue
                calls[match[1]] += 1
                served[match[6]] += 1
                is_product = min(int(match[i]) for i in (2, 3, 4)) > 0 and match[5] not in ("0", "-0")
                if match[6] == "cpu" and is_product and "fork" not in match[7] and not on_cpu:
                    on_cpu = line.strip()
    return calls, served, on_cpu


def log_complaints(client, log, expect_gpu):
    calls, served, on_cpu = read_log(log)
    if not calls:
        return [f"no call of {pathlib.Path(client.command[0]).name} reached the library"], served
    complaints = [f"{calls[name]} calls of {name} reached the library, at least {least} were expected"
                  for name, least in client.calls.items() if calls[name] < least]
    if expect_gpu and served["gpu"] == 0 and served["cpu"] > 0:
        complaints.append("no call ran on the GPU")
    if expect_gpu and on_cpu:
        complaints.append(f"a product ran on the CPU: {on_cpu}")
    return complaints, served


def run(name, client, arguments, directory):
    log = directory / "skgemm.log"
    for file, text in client.files.items():
        (directory / file).write_text(text)
    stdin = open(directory / client.stdin) if client.stdin else subprocess.DEVNULL
    begin = time.monotonic()
    try:
        result = subprocess.run(client.command, cwd=directory, stdin=stdin, capture_output=True, text=True,
                                errors="replace", timeout=arguments.timeout,
                                env=environment(client, arguments.library, log, arguments.expect == "gpu"))
    except subprocess.TimeoutExpired:
        print(f"FAILED {name}: no end after {arguments.timeout} s")
        return 1
    seconds = time.monotonic() - begin

    def outputs(file):
        if file in ("stdout", "stderr"):
            return getattr(result, file)
        path = directory / file
        return path.read_text(errors="replace") if path.exists() else ""

    complaints = [] if result.returncode == 0 else [f"exit code {result.returncode}"]
    complaints += verdict_complaints(client, outputs)
    of_log, served = log_complaints(client, log, arguments.expect == "gpu")
    complaints += of_log
    who = ", ".join(f"{count} {where}" for where, count in sorted(served.items())) or "none"
    print(f"{'FAILED' if complaints else 'passed'} {name}: {client.why}; calls: {who}; {seconds:.1f} s")
    for words in complaints:
        print(f"  {words}")
    if complaints:
        print("  last lines of the program:", *(result.stdout + result.stderr).splitlines()[-12:], sep="\n    ")
        print(f"  repeat: SKGEMM_TEST_EXPECT={arguments.expect} {' '.join(sys.argv)} --keep")
    return 1 if complaints else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("client")
    parser.add_argument("--library", required=True, type=pathlib.Path, help="libskgemm.so")
    parser.add_argument("--programs", default=".", help="folder of c_client and fortran_client")
    parser.add_argument("--netlib", default=f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}/blas",
                        help="folder of netlib's testers (default: %(default)s)")
    parser.add_argument("--expect", choices=("cpu", "gpu"), default=os.environ.get("SKGEMM_TEST_EXPECT", "cpu"))
    parser.add_argument("--skip-without-gpu", action="store_true", help="exit 77 where there is no NVIDIA device")
    parser.add_argument("--timeout", type=float, default=150, help="seconds")
    parser.add_argument("--keep", action="store_true", help="keep the working directory and say where it is")
    arguments = parser.parse_args()
    arguments.library = arguments.library.resolve()
    python = system_python()
    netlib, programs = (str(pathlib.Path(x).resolve()) for x in (arguments.netlib, arguments.programs))
    table = clients(netlib, programs, python)
    if arguments.client not in table:
        parser.error(f"no client {arguments.client}; there are: {' '.join(table)}")
    if not arguments.library.exists():
        parser.error(f"{arguments.library} does not exist: build the target skgemm first")
    client = table[arguments.client]
    no_gpu = arguments.skip_without_gpu and not any(os.path.exists(f"/dev/{node}") for node in ("nvidia0", "dxg"))
    reason = "no CUDA device: there is no /dev/nvidia0" if no_gpu else reason_to_skip(client, python)
    if reason:
        print(f"skipped {arguments.client}:\n{reason}")  # a line of its own, equal for all, that a summary can count
        return SKIPPED
    directory = pathlib.Path(tempfile.mkdtemp(prefix="skgemm-client-"))
    try:
        return run(arguments.client, client, arguments, directory)
    finally:
        if arguments.keep:
            print(f"  working directory: {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
