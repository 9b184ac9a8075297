#!/usr/bin/env python3
"""Products through numpy, scipy and ctypes, each against a reference that is not BLAS.

Run it with libskgemm.so preloaded: accept.py numpy scipy ctypes. `numpy` and `scipy` call what those packages were
built on (Debian's call cblas_?gemm and ?gemm_; wheels carry a renamed BLAS of their own, which can't be interposed),
`ctypes` calls the symbols of this process. numpy.einsum without optimize and integer matmul are numpy's own loops.
"""
import ctypes
import multiprocessing
import sys
import threading

import numpy as np

UNIT = {np.dtype("f4"): 2.0**-24, np.dtype("f8"): 2.0**-53, np.dtype("f2"): 2.0**-11}
SUM_UNIT = {np.dtype("f4"): 2.0**-24, np.dtype("f8"): 2.0**-53, np.dtype("f2"): 2.0**-24}
LETTER = {"f4": "s", "f8": "d", "f2": "h"}


class Report:
    def __init__(self):
        self.checks = 0
        self.failures = []

    def check(self, right, *words):
        self.checks += 1
        if not right:
            self.failures.append(" ".join(str(w) for w in words))


def loops(a, b):
    """a @ b in double without BLAS."""
    return np.einsum("ik,jk->ij", a.astype("f8"), np.ascontiguousarray(b.astype("f8").T), optimize=False)


def close(got, a, b, alpha, beta, c):
    """Whether got is alpha*a@b + beta*c within the rounding of its type; a NaN never is."""
    want = alpha * loops(a, b)
    magnitude = abs(alpha) * loops(abs(a), abs(b))
    if beta != 0:
        want = want + beta * c.astype("f8")
        magnitude = magnitude + abs(beta * c.astype("f8"))
    k = a.shape[1]
    bound = 2 * (k + 2) * SUM_UNIT[got.dtype] * magnitude + 2 * UNIT[got.dtype] * abs(want)
    if got.dtype == np.dtype("f2"):
        bound = bound + 2.0**-24
    with np.errstate(invalid="ignore"):
        return got.shape == want.shape and bool(np.all(abs(got.astype("f8") - want) <= bound))


def random(rng, shape, dtype):
    return (rng.random(shape) - 0.5).astype(dtype)


# ---- ctypes: the symbols themselves ------------------------------------------------------------------------------

def scalar(dtype, value):
    if dtype == "f2":
        return ctypes.c_uint16(int(np.float16(value).view("u2")))
    return ctypes.c_float(value) if dtype == "f4" else ctypes.c_double(value)


def process_symbol(name):
    """A symbol of this process: ours when preloaded."""
    return getattr(ctypes.CDLL(None), name)


def fortran_gemm(dtype, ta, tb, alpha, a, lda, b, ldb, beta, c, ldc, m, n, k):
    by_reference = [ctypes.byref(ctypes.c_int(x)) for x in (m, n, k)]
    process_symbol(LETTER[dtype] + "gemm_")(
        ctypes.c_char_p(ta.encode()), ctypes.c_char_p(tb.encode()), *by_reference, ctypes.byref(scalar(dtype, alpha)),
        ctypes.c_void_p(a), ctypes.byref(ctypes.c_int(lda)), ctypes.c_void_p(b), ctypes.byref(ctypes.c_int(ldb)),
        ctypes.byref(scalar(dtype, beta)), ctypes.c_void_p(c), ctypes.byref(ctypes.c_int(ldc)),
        ctypes.c_size_t(1), ctypes.c_size_t(1))


def cblas_gemm(dtype, layout, ta, tb, alpha, a, lda, b, ldb, beta, c, ldc, m, n, k):
    op = {"N": 111, "T": 112, "C": 113}
    process_symbol("cblas_" + LETTER[dtype] + "gemm")(
        {"F": 102, "C": 101}[layout], op[ta], op[tb], m, n, k, scalar(dtype, alpha), ctypes.c_void_p(a), lda,
        ctypes.c_void_p(b), ldb, scalar(dtype, beta), ctypes.c_void_p(c), ldc)


def stored(values, layout, pad, offset, fill):
    """values inside a larger array with a margin of `fill`: (outer, view, address, leading dimension)."""
    rows, columns = values.shape
    outer = np.full((rows + pad, columns + pad), fill, values.dtype, order=layout)
    view = outer[offset:offset + rows, offset:offset + columns]
    view[...] = values
    return outer, view, view.ctypes.data, max(1, outer.shape[0] if layout == "F" else outer.shape[1])


def ctypes_case(report, rng, dtype, entry, ta, tb, m, n, k, alpha, beta):
    layout = "C" if entry == "cblas-rows" else "F"
    a = random(rng, (m, k) if ta == "N" else (k, m), dtype)
    b = random(rng, (k, n) if tb == "N" else (n, k), dtype)
    c = random(rng, (m, n), dtype)
    pad = int(rng.integers(0, 4))
    offset = int(rng.integers(0, pad + 1))
    hold_a = stored(a, layout, pad, offset, np.nan)
    hold_b = stored(b, layout, pad, offset, np.nan)
    start = np.full_like(c, np.nan) if beta == 0 else c
    hold_c = stored(start, layout, pad, offset, -77)
    arguments = (ta, tb, alpha, hold_a[2], hold_a[3], hold_b[2], hold_b[3], beta, hold_c[2], hold_c[3], m, n, k)
    if entry == "fortran":
        fortran_gemm(dtype, *arguments)
    else:
        cblas_gemm(dtype, layout, *arguments)
    name = f"{dtype} {entry} {ta}{tb} m={m} n={n} k={k} alpha={alpha} beta={beta} pad={pad} offset={offset}"
    op_a, op_b = (a if ta == "N" else a.T), (b if tb == "N" else b.T)
    report.check(close(hold_c[1].copy(), op_a, op_b, alpha, beta, c), "ctypes product", name)
    margin = hold_c[0].copy()
    margin[offset:offset + m, offset:offset + n] = -77
    report.check(np.all(margin == -77), "ctypes margin of C", name)


def through_ctypes(report, rng):
    for dtype in ("f4", "f8", "f2"):
        for entry in ("fortran", "cblas-columns", "cblas-rows"):
            for ta in "NTC":
                for tb in "NT":
                    for beta in (0.0, 0.5, 1.0):
                        m, n, k = (int(x) for x in rng.integers(1, 90, 3))
                        ctypes_case(report, rng, dtype, entry, ta, tb, m, n, k, float(rng.choice([1, -0.75])), beta)
        for m, n, k in ((700, 333, 411), (1, 700, 700), (641, 1, 300), (513, 257, 129)):
            for ta, tb in ("NN", "TN", "NT", "TT"):
                ctypes_case(report, rng, dtype, "fortran", ta, tb, m, n, k, 1.0, 0.0)
    a = np.array([1024.5], "f4")  # a TF32 product would give 1024 or 1025
    c = np.array([np.nan], "f4")
    one = np.array([1], "f4")
    fortran_gemm("f4", "N", "N", 1, a.ctypes.data, 1, one.ctypes.data, 1, 0, c.ctypes.data, 1, 1, 1, 1)
    report.check(c[0] == np.float32(1024.5), "sgemm of 1024.5 gives", c[0])
    ones = np.full(1024, 200, "f2")
    h = np.array([0], "f2")
    fortran_gemm("f2", "N", "N", 1, ones.ctypes.data, 1, ones.ctypes.data, 1024, 0, h.ctypes.data, 1, 1, 1, 1024)
    report.check(np.isposinf(h[0]), "hgemm beyond 65504 gives", h[0])
    h_ones = np.ones(4096, "f2")  # an fp16 sum would stop at 2048
    fortran_gemm("f2", "N", "N", 0.5, h_ones.ctypes.data, 1, h_ones.ctypes.data, 4096, 0, h.ctypes.data, 1, 1, 1, 4096)
    report.check(h[0] == 2048, "hgemm of 4096 ones, halved, gives", h[0])


# ---- numpy: @, dot, out=, slices ---------------------------------------------------------------------------------

def arranged(x, how):
    """x in another memory layout, the same values."""
    if how == "C":
        return np.ascontiguousarray(x)
    if how == "F":
        return np.asfortranarray(x)
    big = np.full((x.shape[0] + 3, x.shape[1] + 5), np.nan, x.dtype)  # how == "slice"
    view = big[2:2 + x.shape[0], 1:1 + x.shape[1]]
    view[...] = x
    return view


def through_numpy(report, rng):
    for dtype in ("f4", "f8"):
        for how_a in ("C", "F", "slice"):
            for how_b in ("C", "F", "slice"):
                for m, n, k in ((2, 3, 4), (17, 33, 65), (64, 64, 64), (129, 127, 31), (255, 3, 200)):
                    a, b = random(rng, (m, k), dtype), random(rng, (k, n), dtype)
                    where = f"numpy {dtype} {how_a} {how_b} m={m} n={n} k={k}"
                    report.check(close(arranged(a, how_a) @ arranged(b, how_b), a, b, 1, 0, None), where)
                    out = np.full((m, n), np.nan, dtype)
                    np.matmul(arranged(a, how_a), arranged(b, how_b), out=out)
                    report.check(close(out, a, b, 1, 0, None), where, "out=")
                    np.dot(arranged(a, how_a), arranged(b, how_b), out=out)
                    report.check(close(out, a, b, 1, 0, None), where, "dot")
        for m, n, k in ((700, 700, 700), (513, 257, 699), (1, 700, 300), (700, 1, 699)):
            a, b = random(rng, (m, k), dtype), random(rng, (k, n), dtype)
            report.check(close(a @ b, a, b, 1, 0, None), f"numpy {dtype} m={m} n={n} k={k}")
            report.check(close(a.T.copy().T @ b.T.copy().T, a, b, 1, 0, None), f"numpy {dtype} TT m={m} n={n} k={k}")
        for m, n, k in ((37, 41, 43), (200, 300, 250)):  # integers: exact
            a, b = rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (k, n))
            exact = a @ b
            report.check(np.array_equal(a.astype(dtype) @ b.astype(dtype), exact), f"numpy {dtype} integers m={m}")
            report.check(np.array_equal(a.astype(dtype) @ b.T.copy().astype(dtype).T, exact), f"numpy {dtype} NT m={m}")
            square = a[:, :m]
            report.check(np.array_equal(square.astype(dtype) @ b[:m, :m].T.astype(dtype), square @ b[:m, :m].T),
                         f"numpy {dtype} square times a transpose m={m}")
        special(report, rng, dtype)


def special(report, rng, dtype):
    """NaN and Inf stay in their row and column."""
    a, b = random(rng, (40, 30), dtype), random(rng, (30, 50), dtype)
    a[7, 3], b[5, 11] = np.nan, np.inf
    a[7, 5] = 1
    with np.errstate(invalid="ignore"):
        got = a @ b
    report.check(np.all(np.isnan(got[7, :])), f"numpy {dtype} NaN row")
    others = np.delete(np.arange(40), 7)
    report.check(np.all(np.isinf(got[others, 11])), f"numpy {dtype} Inf column")
    clean = np.delete(got[others, :], 11, axis=1)
    a_clean, b_clean = a[others, :], np.delete(b, 11, axis=1)
    report.check(close(clean, a_clean, b_clean, 1, 0, None), f"numpy {dtype} elements beside NaN and Inf")


def through_scipy(report, rng):
    from scipy.linalg import blas, lu_factor, lu_solve, qr
    for dtype in ("f4", "f8"):
        gemm = blas.sgemm if dtype == "f4" else blas.dgemm
        for trans_a in (0, 1):
            for trans_b in (0, 1):
                for beta in (0.0, 1.0, -0.25):
                    for m, n, k in ((1, 1, 1), (5, 7, 3), (65, 33, 129), (130, 130, 130)):
                        a = np.asfortranarray(random(rng, (k, m) if trans_a else (m, k), dtype))
                        b = np.asfortranarray(random(rng, (n, k) if trans_b else (k, n), dtype))
                        c = np.asfortranarray(random(rng, (m, n), dtype))
                        start = np.full_like(c, np.nan) if beta == 0 else c.copy(order="F")
                        got = gemm(1.5, a, b, beta=beta, c=start, trans_a=trans_a, trans_b=trans_b, overwrite_c=1)
                        report.check(close(got, a.T if trans_a else a, b.T if trans_b else b, 1.5, beta, c),
                                     f"scipy {dtype} trans={trans_a}{trans_b} beta={beta} m={m} n={n} k={k}")
        a, b = random(rng, (260, 261), dtype), random(rng, (261, 262), dtype)
        report.check(close(gemm(1, a, b), a, b, 1, 0, None), f"scipy {dtype} m=260 n=262 k=261")
        x = random(rng, (300, 300), dtype) + 8 * np.eye(300, dtype=dtype)
        y = random(rng, (300, 40), dtype)
        solution = lu_solve(lu_factor(x), y)
        report.check(np.all(abs(loops(x, solution) - y) <= 1e4 * UNIT[x.dtype]), f"scipy {dtype} lu residual")
        q, r = qr(x)
        report.check(np.all(abs(loops(q, r) - x) <= 1e4 * UNIT[x.dtype]), f"scipy {dtype} qr residual")


# ---- several callers at once ---------------------------------------------------------------------------------------

def one_product(multiply, seed):
    rng = np.random.default_rng(seed)
    m, n, k = (int(x) for x in rng.integers(50, 260, 3))
    dtype = "f8" if seed % 2 else "f4"
    a, b = random(rng, (m, k), dtype), random(rng, (k, n), dtype)
    return close(multiply(a, b), a, b, 1, 0, None)


def multiply_by_symbol(a, b):
    a, b = np.asfortranarray(a), np.asfortranarray(b)
    c = np.full((a.shape[0], b.shape[1]), np.nan, a.dtype, order="F")
    fortran_gemm("f8" if a.dtype == np.dtype("f8") else "f4", "N", "N", 1, a.ctypes.data, a.shape[0], b.ctypes.data,
                 b.shape[0], 0, c.ctypes.data, c.shape[0], a.shape[0], b.shape[1], a.shape[1])
    return c


def in_child(multiply):
    sys.exit(0 if all(one_product(multiply, seed) for seed in range(1000, 1004)) else 3)


def several_callers(report, multiply, name):
    results = [False] * 6

    def work(i):
        results[i] = all(one_product(multiply, 10 * i + j) for j in range(8))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    report.check(all(results), name, "6 threads:", results)
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=in_child, args=(multiply,)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        report.check(child.exitcode == 0, name, "forked child exit code", child.exitcode, "(None: it hangs)")
        if child.exitcode is None:
            child.kill()
    report.check(one_product(multiply, 77), name, "the parent after fork")


def main():
    report = Report()
    ways = sys.argv[1:] or ["numpy", "scipy", "ctypes"]
    for way in ways:
        rng = np.random.default_rng(20)
        {"numpy": through_numpy, "scipy": through_scipy, "ctypes": through_ctypes}[way](report, rng)
        if way != "scipy":
            several_callers(report, multiply_by_symbol if way == "ctypes" else np.matmul, way)
    for words in report.failures[:10]:
        print("FAIL", words)
    print(f"accept: {report.checks} checks, {len(report.failures)} failed")
    return 1 if report.failures or report.checks == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
