"""The demo behind `./run demo`: the machine, a plan, programs built against the installed package, unmodified programs
with libskgemm.so preloaded. For each: who served the calls, the error against a reference, the rate with and without.

demo.py BUILD_DIR
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PHOTO = "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg"
HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
SIZES = ("2000", "1500", "1800")
HPL_ORDER = 2000
CALL = re.compile(r'^skgemm: call=(\S+) .*\bm=(\d+) n=(\d+) k=(\d+) .*\bbatch=(\d+) .*\bon=(\w+) .*\bwhy="([^"]*)"')
PLACES = {"gpu": "on the GPU", "cpu": "on the CPU"}
OF_THE_RUN_SCRIPT = ("SKGEMM_BUILD_DIR", "SKGEMM_SETUP", "SKGEMM_CMAKE_ARGS")


class Demo:
    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.work = self.build / "demo"
        self.prefix = self.work / "prefix"
        self.failures = []
        self.reasons = set()
        self.on_gpu = False
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)

    def run(self, command, cwd=None, **environment):
        """Runs a command and returns its output. A failure is remembered and told; the demo goes on."""
        inherited = {name: value for name, value in os.environ.items() if name not in OF_THE_RUN_SCRIPT}
        done = subprocess.run([str(word) for word in command], cwd=cwd or self.work, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**inherited, **{name: str(value) for name, value in environment.items()}})
        if done.returncode != 0:
            self.fail(f"{command[0]} ended with status {done.returncode}:\n{done.stdout}")
        return done.stdout.rstrip()

    def fail(self, words):
        self.failures.append(words.splitlines()[0])
        print(f"FAILED: {words}")

    def served(self, log):
        """Who served the calls that a log tells of, in a line or two."""
        by_reason, flops, first_why = collections.Counter(), collections.Counter(), {}
        lines = log.read_text().splitlines() if log.exists() else []
        for line in lines:
            found = CALL.match(line)
            if not found:
                continue
            m, n, k, batch = (int(x) for x in found.group(2, 3, 4, 5))
            where, why = found.group(6, 7)
            # Reasons differ in their numbers, and a GPU's is the whole plan: one row for each kind, told by its first.
            kind = (where, re.sub(r"\d[\d.]*", "#", why) if where != "gpu" else "")
            first_why.setdefault(kind, why)
            by_reason[kind] += 1
            flops[kind] += 2 * m * n * k * batch
        if not by_reason:
            self.fail("no call of this program reached libskgemm")
        total = sum(flops.values()) or 1
        rows = []
        for kind, count in sorted(by_reason.items(), key=lambda item: -flops[item[0]]):
            where = kind[0]
            self.on_gpu |= where == "gpu"
            calls = f"{count} call{'s' if count > 1 else ''} {PLACES.get(where, where)}"
            share = f"{calls}, {100 * flops[kind] / total:.0f} % of the work"
            rows.append(share if where == "gpu" else f"{share}: {self.told_once(kind, first_why[kind])}")
        return rows

    def told_once(self, kind, why):
        """A reason in full when its kind comes first, without its advice after that."""
        known = kind in self.reasons
        self.reasons.add(kind)
        return re.sub(": .*", ": as above", why) if known else why

    def logged(self, name):
        return {"SKGEMM_VERBOSE": 1, "SKGEMM_LOG": self.work / f"{name}.log"}

    def preloaded(self, name):
        return {"LD_PRELOAD": self.library, **self.logged(name)}

    def show(self, without, with_us, log):
        print(indented(f"without: {without}\nwith us: {with_us}"))
        print(indented("served:  " + continued("\n".join(self.served(self.work / f"{log}.log")))))

    # The chapters, in order.

    def machine(self):
        title("The machine: skgemm info")
        print(indented(self.run([self.tool, "info"])))

    def plans(self):
        title("How a product is shared out: first the Stream-K paper's figure 3, on a GPU of four SMs")
        figure = "896 384 128 --sms 4 --tile 128x128x4 --schedule two-tile"
        print(indented(f"$ skgemm plan {figure}\n{self.run([self.tool, 'plan', *figure.split()])}"))
        product = f"{' '.join(SIZES)} --type d"
        drawn = self.run([self.tool, "plan", *product.split(), "--svg", "plan.svg"])
        print("\n   then what the library's model chooses for a product that the programs below compute")
        print(indented(f"$ skgemm plan {product} --svg plan.svg\n" + "\n".join(drawn.splitlines()[:4])))
        print(indented(f"see {self.work / 'plan.svg'}"))

    def install(self):
        self.run(["cmake", "--install", self.build, "--prefix", self.prefix])
        found = sorted(self.prefix.glob("lib*/**/libskgemm.so"))
        if not found:
            sys.exit(f"demo: the installation in {self.prefix} has no libskgemm.so")
        self.library = found[0]
        self.tool = self.prefix / "bin" / "skgemm"

    def c_programs(self):
        title("C programs, built with find_package(skgemm)")
        build = self.work / "c"
        cache = (self.build / "CMakeCache.txt").read_text()
        generator = re.search(r"^CMAKE_GENERATOR:INTERNAL=(.*)$", cache, re.M)[1]  # a machine may have no make
        options = ["-G", generator, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release"]
        self.run(["cmake", "-S", HERE, "-B", build, *options])
        self.run(["cmake", "--build", build])
        print(indented("native:  " + continued(self.run([build / "native"]))))
        self.run(["cc", "-std=c99", "-O2", HERE / "product.c", "-o", "product_c", "-lblas", "-lm"])
        self.show(self.run([self.work / "product_c", *SIZES]),
                  self.run([build / "product", *SIZES], **self.logged("c")), "c")

    def fortran_program(self):
        title("A Fortran program, built with pkg-config skgemm")
        packages = self.library.parent / "pkgconfig"
        flags = self.run(["pkg-config", "--cflags", "--libs", "skgemm"], PKG_CONFIG_PATH=packages).split()
        compiler = ["gfortran", "-O2", HERE / "product.f90", "-o"]
        self.run([*compiler, "product_f", *flags, f"-Wl,-rpath,{self.library.parent}"])
        self.run([*compiler, "product_f_blas", "-lblas"])
        self.show(self.run([self.work / "product_f_blas", *SIZES]),
                  self.run([self.work / "product_f", *SIZES], **self.logged("fortran")), "fortran")

    def numpy_picture(self):
        title("Unmodified numpy: a photograph enlarged in fp64, compressed in fp32")
        print(indented(f"$ LD_PRELOAD=libskgemm.so python3 picture.py {pathlib.Path(PHOTO).name} picture.png"))
        program = ["/usr/bin/python3", HERE / "picture.py", PHOTO]
        self.run([*program, "without.png"])  # its rate isn't shown: the first run on an idle machine is a slow one
        self.show(continued(self.run([*program, "without.png"])),
                  continued(self.run([*program, "picture.png"], **self.preloaded("numpy"))), "numpy")
        print(indented(f"see {self.work / 'picture.png'}"))

    def hpl(self):
        title(f"Unmodified HPL (hpcc): a linear system of order {HPL_ORDER}")
        edits = {6: rf"^\d+@{HPL_ORDER}", 8: r"^\d+@100", 11: "^.*@1 Ps", 12: "^.*@1 Qs"}
        lines = pathlib.Path(HPCC_INPUT).read_text().splitlines()
        for number, edit in edits.items():
            lines[number - 1] = re.sub(*edit.split("@"), lines[number - 1], count=1)
        results = []
        for name, environment in (("hpl_without", {}), ("hpl", self.preloaded("hpl"))):
            directory = self.work / name
            directory.mkdir()
            (directory / "hpccinf.txt").write_text("\n".join(lines) + "\n")
            # One process needs no remote shell, but Open MPI looks for one.
            self.run(["hpcc"], cwd=directory, OMPI_MCA_plm_rsh_agent="/bin/false", **environment)
            results.append(self.hpl_result(directory / "hpccoutf.txt"))
        self.show(*results, "hpl")

    def hpl_result(self, report):
        text = report.read_text() if report.exists() else ""
        rate = re.search(rf"^W\S+ +{HPL_ORDER} .* (\S+)$", text, re.M)
        residual = re.search(r"^\|\|Ax-b\|\|.*= +(\S+) \.+ (PASSED|FAILED)", text, re.M)
        if not rate or not residual or residual[2] != "PASSED" or "Success=1" not in text:
            self.fail(f"HPL's residual check did not say PASSED; see {report}")
            return "no result"
        return f"{float(rate[1]):.1f} GFLOP/s; scaled residual {residual[1]} {residual[2]}"


def title(words):
    print(f"\n== {words}", flush=True)


def continued(text):
    """Lines after the first stand under it, past a label of nine columns."""
    return text.replace("\n", "\n" + 9 * " ")


def indented(text):
    return "\n".join("   " + line for line in text.splitlines())


def main(build):
    demo = Demo(build)
    demo.install()
    for chapter in (demo.machine, demo.plans, demo.c_programs, demo.fortran_program, demo.numpy_picture, demo.hpl):
        chapter()
    print()
    if not demo.on_gpu:
        print("No product ran on a GPU here: `without` and `with us` are both the CPU BLAS.")
    print("Everything above answered right." if not demo.failures else f"{len(demo.failures)} failed:")
    for failure in demo.failures:
        print(f"  {failure}")
    return 1 if demo.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
