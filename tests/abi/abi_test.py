#!/usr/bin/env python3
"""What libskgemm.so is to the loader and to programs that make mistakes. abi_test.py LIBRARY PROGRAMS SOURCE TEST

LIBRARY is libskgemm.so, PROGRAMS the directory of the test programs, SOURCE the source root. Exits 0 (passed),
1 (failed, with words) or 77 (skipped, with the reason)."""
import glob
import os
import re
import subprocess
import sys
import tempfile

LIBRARY, PROGRAMS, SOURCE = (os.path.abspath(p) for p in sys.argv[1:4])
NARROW = ["sgemm_", "dgemm_", "cblas_sgemm", "cblas_dgemm"]
# Every library that the loader of the CPU BLAS tries by itself.
CANDIDATES = re.findall(r'"(lib[^"]+\.so[^"]*)"', open(os.path.join(SOURCE, "src/host/cpu_blas.cpp")).read())


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def need(condition, words):
    if not condition:
        print("FAILED:", words)
        sys.exit(1)


def library_dir(kind):
    found = glob.glob(f"/usr/lib/*/{kind}/libblas*.so.3")
    return os.path.dirname(found[0]) if found else skip(f"no {kind} BLAS is installed")


def program(name):
    path = os.path.join(PROGRAMS, name)
    return path if os.path.exists(path) else skip(f"{name} was not built (no BLAS to link with)")


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __eq__(self, other):
        return (self.code, self.out, self.err) == (other.code, other.out, other.err)

    def __repr__(self):
        return f"exit {self.code}, stdout {self.out!r}, stderr {self.err!r}"

    def log_lines(self):
        return [line for line in self.err.splitlines() if line.startswith("skgemm: call=")]

    def warnings(self):
        return [line for line in self.err.splitlines() if line.startswith("skgemm: warning:")]


def run(command, preload=True, **environment):
    ours = ("SKGEMM_", "LD_PRELOAD", "LD_LIBRARY_PATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    kept.update(environment)
    if preload:
        kept["LD_PRELOAD"] = LIBRARY
    return Result(subprocess.run(command, env=kept, capture_output=True, text=True, timeout=100))


def no_blas():
    """Environment in which dlopen finds a broken file for every CPU BLAS."""
    directory = tempfile.mkdtemp(prefix="no_blas_")
    for name in CANDIDATES:
        open(os.path.join(directory, name), "w").close()
    return {"LD_LIBRARY_PATH": directory, "SKGEMM_OFFLOAD": "never"}


def test_exports():
    rows = open(os.path.join(SOURCE, "src/abi/symbols.def")).read()
    rows = re.findall(r"^SKGEMM_SYMBOL\((\w+), (\w+)\)", rows, re.M)
    cublas_names = os.environ["SKGEMM_CUBLAS_NAMES"] == "ON"  # cuBLAS's header was there
    wanted = {name for name, dialect in rows if dialect != "cublas" or cublas_names}
    listing = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    found = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
    need(len(wanted) > 30, "symbols.def was not understood")
    extra, missing = sorted(found - wanted), sorted(wanted - found)
    need(found == wanted, f"exported but not in symbols.def: {extra}; missing: {missing}")


def test_needed():
    listing = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"NEEDED.*\[(.+)\]", listing)
    allowed = re.compile(r"(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux-[\w-]+)\.so\.\d+$")
    need(needed, "readelf named no library")
    bad = [name for name in needed if not allowed.match(name)]
    need(not bad, f"a drop-in must not bring in {bad}: it would capture their symbols in every program")
    need("(SONAME)" in listing and "libskgemm.so.0" in listing, "the soname is not libskgemm.so.0")


def test_no_static_tls():
    """With static TLS a process that loads us late (ctypes, plug-ins) has no room for the CUDA runtime's 8 KB."""
    listing = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
    need("FLAGS" in listing, "readelf named no flags")
    need("STATIC_TLS" not in listing, "a variable uses the initial-exec TLS model, so dlopen may fail")


def test_silent():
    for command in (["ls", "/"], ["sh", "-c", "ls / | wc -l"], [sys.executable, "-c", "print(1)"]):
        need(run(command) == run(command, preload=False), f"{command} says something else with the library preloaded")


def compare_illegal(directory, names=NARROW, probe="illegal_calls"):
    path, compared = program(probe), 0
    for name in names:
        for variant in range(int(run([path, name, "count"]).out)):
            command = [path, name, str(variant)]
            plain = run(command, preload=False, LD_LIBRARY_PATH=directory)
            ours = run(command, LD_LIBRARY_PATH=directory)
            need(plain.code != 77, f"{directory} has no {name}: {plain}")
            need(plain == ours, f"{' '.join(command[1:])} over {directory}: {plain} without us, {ours} with us")
            compared += 1
    need(compared >= 15 * len(names), f"only {compared} calls were compared")
    print(compared, "illegal calls compared")


def test_illegal_openblas():
    compare_illegal(library_dir("openblas-pthread"))


def test_illegal_reference():
    compare_illegal(library_dir("blas"))


def test_illegal_own_handler():
    for kind in ("openblas-pthread", "blas"):
        compare_illegal(library_dir(kind), probe="illegal_calls_xerbla")
    done = run([program("illegal_calls_xerbla"), "dgemm_", "2"], LD_LIBRARY_PATH=library_dir("openblas-pthread"))
    called = "own handler: DGEMM  3" in done.out and "C is as it was" in done.out
    need(called, f"the program's handler was not called: {done}")


def test_handler_that_jumps_out():
    done = run([program("illegal_calls_xerbla"), "dgemm_", "longjmp"], SKGEMM_VERBOSE="1",
               LD_LIBRARY_PATH=library_dir("openblas-pthread"))
    served = [re.search(r" on=(\w+)", line).group(1) for line in done.log_lines()]
    need(served == ["forwarded", "cpu"] and done.code == 0, f"after a longjmp calls are no longer served: {done}")


def test_illegal_without_blas():
    """There we answer: words, numbers as the dialect counts, C untouched."""
    library = {"LD_PRELOAD": LIBRARY, **no_blas()}
    positions = {"dgemm_": [1, 2, 3, 4, 5, 8, 8, 10, 10, 13, 13, 1, 4, 8, 1],
                 "cblas_sgemm": [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 9, 9, 9, 11, 11, 14, 14, 2]}
    for name, numbers in positions.items():
        for variant, number in enumerate(numbers):
            done = run([program("bare_calls"), name, str(variant)], **library)
            named = re.search(rf"(?i)parameter (number )? ?{number}\b", done.err)
            need(named, f"{name} {variant} should name parameter {number}: {done}")
            need(done.code == 0 and "C is as it was" in done.out, f"{name} {variant}: {done}")


def test_illegal_half():
    directory = library_dir("openblas-pthread")
    done = run([program("bare_calls"), "hgemm_", "2"], LD_LIBRARY_PATH=directory)
    words = " ** On entry to HGEMM  parameter number  3 had an illegal value\n"
    need(done.err == words and "C is as it was" in done.out, f"{done}")
    done = run([program("illegal_calls_xerbla"), "hgemm_", "2"], LD_LIBRARY_PATH=directory)
    need("own handler: HGEMM  3" in done.out and done.err == "", f"the program's handler was not called: {done}")
    done = run([program("bare_calls"), "cblas_hgemm", "5"], LD_LIBRARY_PATH=directory)
    need(done.err == "Parameter 4 to routine cblas_hgemm was incorrect\n" and "C is as it was" in done.out, f"{done}")


def test_wide_rejects():
    """m = 2^32 + 1 with ld 1: legal if cut to 32 bits, illegal as it stands, over libraries of either width."""
    for library in ("libopenblas.so.0", "libopenblas64.so.0"):
        for name in ("sgemm_64_", "dgemm_64_", "hgemm_64_", "cblas_dgemm_64", "cblas_sgemm64_", "cblas_hgemm_64"):
            done = run([program("bare_calls"), name, "high"], SKGEMM_CPU_BLAS=library)
            rejected = done.code == 0 and "C is as it was" in done.out
            need(rejected, f"{name} over {library} took m = 2^32 + 1 for 1: {done}")
            need(re.search(r"(?i)parameter", done.out + done.err), f"{name} over {library} said nothing: {done}")


def test_one_line_per_call():
    """The reference cblas_dgemm calls dgemm_, which is ours: the user still made one call."""
    for kind in ("blas", "openblas-pthread"):
        for name in NARROW:
            done = run([program("illegal_calls"), name, "legal"], LD_LIBRARY_PATH=library_dir(kind), SKGEMM_VERBOSE="1")
            need(done.code == 0 and len(done.log_lines()) == 1, f"one call of {name} over {kind}: {done}")
            need(f"call={name} " in done.err and " on=cpu " in done.err, f"{done}")


def calls_over(blas_calls_filter="*", **environment):
    command = [program("blas_calls_test"), f"--gtest_filter={blas_calls_filter}", "--gtest_brief=1"]
    done = run(command, preload=False, **environment)
    need(done.code == 0 and "PASSED" in done.out, f"with {environment}: {done.out[-3000:]} {done.err[-2000:]}")
    return done


def need_one_warning(done, words):
    need(len(done.warnings()) == 1 and words in done.err, f"there should be one warning, with {words!r}: {done.err}")


def test_calls_over_reference():
    done = calls_over(SKGEMM_CPU_BLAS=library_dir("blas") + "/libblas.so.3", SKGEMM_VERBOSE="2")
    need(re.search(r"of the CPU: \S*/blas/libblas", done.err), "the reference BLAS was not used")


def test_calls_over_ilp64():
    if not glob.glob("/usr/lib/*/libopenblas64.so.0"):
        skip("libopenblas64-0 is not installed")
    done = calls_over(SKGEMM_CPU_BLAS="libopenblas64.so.0", SKGEMM_VERBOSE="2")
    need("libopenblas64" in done.err and "(64-bit integers)" in done.err, "the 64-bit BLAS was not used")


def test_calls_on_gpu():
    done = calls_over(SKGEMM_OFFLOAD="always", SKGEMM_VERBOSE="1")
    lines = done.log_lines()
    on_gpu = [line for line in lines if " on=gpu " in line]
    if not on_gpu:
        there = any(os.path.exists(f"/dev/{node}") for node in ("nvidia0", "dxg"))
        reasons = [line[line.index("why="):] for line in lines]
        why = next((reason for reason in reasons if "no product to compute" not in reason), reasons[0])
        skip(f"{'no call ran on a GPU' if there else 'no CUDA device'}: {why}")
    need(len(on_gpu) > len(lines) / 4, f"only {len(on_gpu)} of {len(lines)} calls ran on the GPU")
    failed = [line for line in lines + done.warnings() if "GPU failed" in line]
    need(not failed, f"{len(failed)} calls failed on the GPU, the first: {failed[:1]}")
    print(len(on_gpu), "of", len(lines), "calls ran on the GPU; the others only scaled C, or came from a forked child")


def test_calls_over_nothing():
    done = calls_over(**no_blas())
    need_one_warning(done, "libopenblas0")


def test_blas_path_that_is_wrong():
    done = calls_over("*RandomCases*", SKGEMM_CPU_BLAS="/nonexistent/libblas.so")
    need_one_warning(done, "/nonexistent/libblas.so")
    done = calls_over("*RandomCases*", SKGEMM_CPU_BLAS=LIBRARY)  # ourselves
    need(done.code == 0, "our own path as the CPU BLAS must not recurse")


def test_blas_without_the_routine():
    done = calls_over("*RandomCases*", SKGEMM_CPU_BLAS="libm.so.6")
    for name in NARROW:
        words = f"libm.so.6 (SKGEMM_CPU_BLAS) has no {name};"
        need(sum(words in line for line in done.warnings()) == 1, f"one warning should say {words!r}: {done.err}")
    need("hgemm" not in done.err, f"halves need no CPU BLAS: {done.err}")


def test_blas_that_multiplies_while_it_loads():
    """A constructor that calls dgemm_ in the middle of our own first call: nothing may wait for that call to end."""
    done = run([program("bare_calls"), "dgemm_", "legal"], SKGEMM_OFFLOAD="never",
               SKGEMM_CPU_BLAS=os.path.join(PROGRAMS, "libeager_blas.so"))
    need(done.code == 0 and "multiplied 6 while it was loaded" in done.out, f"{done}")


def test_unknown_offload_setting():
    done = calls_over("*RandomCases*", SKGEMM_OFFLOAD="sometimes")
    need_one_warning(done, "auto, always or never")


def test_unknown_verbosity():
    done = calls_over("*RandomCases*", SKGEMM_VERBOSE="loud")
    said = [line for line in done.err.splitlines() if "SKGEMM_VERBOSE=loud" in line]
    need(len(said) == 1 and "use 0, 1 or 2" in said[0], f"an unknown SKGEMM_VERBOSE should be said once: {said}")
    need(done.log_lines(), "an unknown SKGEMM_VERBOSE should log calls")


if __name__ == "__main__":
    globals()["test_" + sys.argv[4]]()
