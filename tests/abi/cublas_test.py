#!/usr/bin/env python3
"""Programs that use cuBLAS, here a stub of it, with libskgemm.so preloaded on a machine without a GPU: every call goes
on to cuBLAS, as it was. cublas_test.py LIBRARY PROGRAMS SOURCE TEST, as abi_test.py."""
import os
import re
import sys
import tempfile

from abi_test import LIBRARY, PROGRAMS, need, program, run, skip

STUB = os.path.join(PROGRAMS, "stub_cublas", "libcublas.so.13")
HIDE_GPU = {"CUDA_VISIBLE_DEVICES": "-1"}


def client(*arguments, preload=True, **environment):
    return run([program("cublas_client"), *arguments], preload=preload, **HIDE_GPU, **environment)


def reasons(done):
    return [re.search(r" on=(\w+) .*why=\"(.*)\"", line).groups() for line in done.log_lines()]


def need_binding_to_us(command, user):
    """The references of `user`, a file of the process, carry cuBLAS's version; ours, which carry none, must do."""
    debug = run(command, LD_DEBUG="bindings", LD_BIND_NOW="1", **HIDE_GPU).err
    for name in ("cublasDgemm_v2", "cublasDgemm_v2_64"):
        bound = [re.search(r"binding file (\S+) .* to (\S+) .*(\[\S+\])$", line).groups() for line in debug.splitlines()
                 if f"normal symbol `{name}'" in line]
        found = [(to, version) for file, to, version in bound if user in file]
        need(found == [(LIBRARY, "[libcublas.so.13]")], f"{name} of {user} is bound elsewhere: {bound}")


def test_binds_to_us():
    need_binding_to_us([program("cublas_client"), "null"], "cublas_client")


def test_cusolver_binds_to_us():
    client = os.path.join(PROGRAMS, "..", "clients", "cusolver_client")
    if not os.path.exists(client):
        skip("cusolver_client was not built (the toolkit has no cuSOLVER)")
    need_binding_to_us([client, "1"], "libcusolver.so")


def test_calls_unchanged():
    plain, ours = client("calls", preload=False), client("calls", SKGEMM_VERBOSE="1")
    need(plain.code == 0 and (plain.code, plain.out) == (ours.code, ours.out), f"without us {plain}, with us {ours}")
    lines, calls = reasons(ours), len(plain.out.splitlines())
    need(calls == 28 and f"cuBLAS called {calls} times" in plain.out, f"{plain}")
    need([on for on, _ in lines] == ["forwarded"] * calls, f"a line for each call, all forwarded: {lines}")
    need(sum("argument is illegal" in why for _, why in lines) == 23, f"illegal calls are named as such: {lines}")
    for name, count in (("cublasDgemm_v2", 13), ("cublasDgemm_v2_64", 15)):
        need(ours.err.count(f"call={name} ") == count, f"{count} calls of {name}: {ours.err}")


def test_null_handle():
    done = client("null", SKGEMM_VERBOSE="1")
    need(done.out == "status 1, cuBLAS called 0 times\n" * 2 and done.code == 0, f"{done}")
    need(reasons(done) == [("none", "the handle is NULL")] * 2, f"{done}")


def test_emulation():
    """fp64 emulation is the user's choice, by the handle or by cuBLAS's variable."""
    done = client("emulate", SKGEMM_VERBOSE="1")
    need(reasons(done) == [("forwarded", "fp64 emulation is asked for")], f"{done}")
    done = client("calls", SKGEMM_VERBOSE="1", CUBLAS_EMULATE_DOUBLE_PRECISION="1")
    asked = sum("fp64 emulation" in why for _, why in reasons(done))
    need(asked == 5, f"every legal call goes on for its emulation: {done}")


def test_reentry():
    done = client("reenter", SKGEMM_VERBOSE="1")
    need(done.code == 0 and "status 0, cuBLAS called 1 times, last cublasDgemm_v2_64" in done.out, f"{done}")
    need(len(done.log_lines()) == 1, f"the user made one call: {done}")


def late_client(*arguments, **environment):
    return run([program("cublas_late_client"), *arguments], SKGEMM_VERBOSE="1", **HIDE_GPU, **environment)


def test_out_of_sight():
    done = late_client(STUB)
    need(done.code == 0 and done.out == "status 0\n" * 2, f"{done}")
    need([on for on, _ in reasons(done)] == ["forwarded"] * 2 and not done.warnings(), f"{done}")


def test_behind_us():
    """By whatever file name cuBLAS is there: another interposer, say."""
    behind = os.path.join(PROGRAMS, "stub_cublas", "librenamed_cublas.so")
    done = run([program("cublas_late_client")], preload=False, LD_PRELOAD=f"{LIBRARY} {behind}", SKGEMM_VERBOSE="1",
               **HIDE_GPU)
    need(done.code == 0 and done.out == "status 0\n" * 2, f"{done}")
    need([on for on, _ in reasons(done)] == ["forwarded"] * 2 and not done.warnings(), f"{done}")


def test_without_cublas():
    done = late_client()
    need(done.code == 0 and done.out == "status 1\n" * 2, f"{done}")
    need(len(done.warnings()) == 1 and "no cuBLAS is loaded" in done.warnings()[0], f"one warning says it: {done}")
    need(reasons(done) == [("none", "no cuBLAS is loaded")] * 2, f"{done}")


def test_ourselves_as_cublas():
    """Where the loader finds us by cuBLAS's file name, a call must not come back to us for ever."""
    with tempfile.TemporaryDirectory(prefix="ourselves_") as directory:
        os.symlink(LIBRARY, os.path.join(directory, "libcublas.so.13"))
        done = late_client(LD_LIBRARY_PATH=directory)
    need(done.code == 0 and done.out == "status 1\n" * 2, f"{done}")


if __name__ == "__main__":
    globals()["test_" + sys.argv[4]]()
