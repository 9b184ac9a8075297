"""The client programs: how each is run, what it must print, and which calls must have reached the library.

Each `expect` row is (file, pattern, count): the pattern is found exactly count times in that output ("stdout" or a
file the program writes). `calls` are the least numbers of logged calls by entry point. `absent` patterns mean failure:
netlib's COMPLETED is a ratio above the threshold that does not use the word FAILED.
"""
import pathlib
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent


@dataclass
class Client:
    command: list
    expect: list
    calls: dict
    files: dict = field(default_factory=dict)     # name -> text, written to the working directory
    stdin: str = None                             # name of the file given as standard input
    library_path: list = field(default_factory=list)
    absent: str = r"FAIL|COMPLETED|SUSPECT|ABANDONED|symbol lookup error|\bnan\b"
    python_blas: bool = False                     # needs a numpy that calls the system's BLAS
    why: str = ""


def fortran_input(letter, sizes):
    """netlib ?BLAT3 with GEMM alone: 9 sizes up to 65 are its limits."""
    upper = letter.upper()
    others = "".join(f"{upper}{name:6s}F\n" for name in ("SYMM", "TRMM", "TRSM", "SYRK", "SYR2K"))
    return (f"'{letter}blat3.out'\n6\n'{upper}BLAT3.SNAP'\n-1\nF\nF\nT\n16.0\n{len(sizes)}\n"
            f"{' '.join(map(str, sizes))}\n3\n0.0 1.0 0.7\n3\n0.0 1.0 1.3\n{upper}GEMM  T\n{others}")


def cblas_input(letter, sizes):
    others = "".join(f"cblas_{letter}{name:6s}F\n" for name in ("symm", "trmm", "trsm", "syrk", "syr2k"))
    return (f"'{letter.upper()}BLAT3.SNAP'\n-1\nF\nF\nT\n2\n16.0\n{len(sizes)}\n"
            f"{' '.join(map(str, sizes))}\n3\n0.0 1.0 0.7\n3\n0.0 1.0 1.3\ncblas_{letter}gemm  T\n{others}")


def netlib(letter, netlib_dir, to_65):
    sizes = [0, 1, 2, 7, 17, 32, 33, 64, 65]
    calls = 59049 if to_65 else 17496
    stock = pathlib.Path(netlib_dir) / f"{letter}blat3.in"
    text = fortran_input(letter, sizes) if to_65 else stock.read_text() if stock.exists() else ""
    name, out = f"{letter.upper()}GEMM", f"{letter}blat3.out"
    return Client(
        command=[f"{netlib_dir}/xblat3{letter}"], files={"input": text}, stdin="input",
        expect=[(out, "PASSED THE", 2 if to_65 else 12),
                (out, rf"^ {name} +PASSED THE TESTS OF ERROR-EXITS", 1),
                (out, rf"^ {name} +PASSED THE COMPUTATIONAL TESTS \( *{calls} CALLS\)", 1),
                (out, "END OF TESTS", 1)],
        calls={f"{letter}gemm_": calls},
        why="netlib's tester of the Fortran names" + (", sizes to 65" if to_65 else ", stock input, all of level 3"))


def netlib_cblas(letter, netlib_dir):
    # din3 has no size 0 (sin3 has): the quick returns of cblas_dgemm would go unseen.
    name = f"cblas_{letter}gemm"
    return Client(
        command=[f"{netlib_dir}/x{letter}cblat3"], files={"input": cblas_input(letter, [0, 1, 2, 3, 5, 9])},
        stdin="input", library_path=[netlib_dir],
        expect=[("stdout", rf"{name} +PASSED THE TESTS OF ERROR-EXITS", 1),
                ("stdout", rf"{name} +PASSED THE COLUMN-MAJOR COMPUTATIONAL TESTS \( *17496 CALLS\)", 1),
                ("stdout", rf"{name} +PASSED THE ROW-MAJOR +COMPUTATIONAL TESTS \( *17496 CALLS\)", 1),
                ("stdout", "END OF TESTS", 1)],
        calls={name: 2 * 17496},
        why="netlib's tester of the CBLAS names, both layouts, over the reference BLAS")


def own(command, summary, calls, why, python_blas=False):
    """A program of this folder: it compares with its own reference and ends with one summary line."""
    return Client(command=command, expect=[("stdout", summary, 1)], calls=calls, absent="FAIL|symbol lookup error",
                  python_blas=python_blas, why=why)


def clients(netlib_dir, programs_dir, python):
    """Every client by its name."""
    table = {}
    for letter in "sd":
        table[f"netlib_{letter}"] = netlib(letter, netlib_dir, to_65=False)
        table[f"netlib_{letter}_65"] = netlib(letter, netlib_dir, to_65=True)
        table[f"netlib_cblas_{letter}"] = netlib_cblas(letter, netlib_dir)
    table["c"] = own([f"{programs_dir}/c_client"], r"^c_client: 4932 calls, 0 bad$",
                     {f"{letter}gemm_": 540 for letter in "sdh"} | {f"cblas_{letter}gemm": 1104 for letter in "sdh"},
                     "a C program: both layouts, NaN in C, guard pages, exact integers, s d h")
    table["fortran"] = own([f"{programs_dir}/fortran_client"], r"^fortran_client: 192 calls, 0 bad$",
                           {"sgemm_": 96, "dgemm_": 96}, "a Fortran program: four op pairs, beta 0 0.5 1, to 600^3")
    accept = [python, str(HERE / "accept.py")]
    table["numpy"] = own([*accept, "numpy"], r"^accept: 310 checks, 0 failed$",
                         {"cblas_sgemm": 100, "cblas_dgemm": 100}, "numpy's @, dot, out=, slices, 6 threads, fork",
                         python_blas=True)
    table["scipy"] = own([*accept, "scipy"], r"^accept: 102 checks, 0 failed$", {"sgemm_": 48, "dgemm_": 48},
                         "scipy.linalg.blas, and LAPACK above us", python_blas=True)
    table["ctypes"] = own([*accept, "ctypes"], r"^accept: 429 checks, 0 failed$",
                          {f"{letter}gemm_": 34 for letter in "sdh"} | {f"cblas_{letter}gemm": 36 for letter in "sdh"},
                          "the process's own symbols from Python: s d h, margins, 6 threads, fork")
    table["numpy_error"] = own([python, str(HERE / "numpy_error.py")], r"^numpy_error: 3 bad calls, 0 failed$",
                               {"dgemm_": 4}, "a bad argument still raises numpy's ValueError", python_blas=True)
    table["octave"] = own(["octave-cli", "--norc", "--no-history", str(HERE / "octave_client.m")],
                          r"^octave: 50 products, 0 bad$", {"sgemm_": 25, "dgemm_": 25},
                          "Octave's a*b and transposes")
    table["r"] = own(["Rscript", "--vanilla", str(HERE / "r_client.R")], r"^R: 20 products, 0 bad$", {"dgemm_": 20},
                     "R's %*%, crossprod, tcrossprod")
    table["hpl"] = Client(
        command=["hpcc"], files={"hpccinf.txt": (HERE / "hpccinf.txt").read_text()},
        expect=[("hpccoutf.txt", r"\|\|Ax-b\|\|_oo/\(eps.*\.\.\.\.\.\. PASSED", 1),
                ("hpccoutf.txt", r"^Success=1$", 1)],
        calls={"cblas_dgemm": 100}, absent=r"^.*\.\.\.\.\.\. FAILED|symbol lookup error",
        why="HPL in hpcc, N=2000: the residual of a solved system")
    return table
