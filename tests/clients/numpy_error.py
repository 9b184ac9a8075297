#!/usr/bin/env python3
"""A bad argument of dgemm_ in a process with numpy: numpy's own xerbla_ must still be the one that answers (it raises
ValueError with the number of the argument), C must stay as it was, and the next good call must work."""
import ctypes
import sys

import numpy as np

process = ctypes.PyDLL(None)  # keeps the interpreter lock, so that an exception set inside the call is raised here


def dgemm(m, lda, c, trans=b"N"):
    a, b = np.ones((2, 2)), np.ones((2, 2))
    number = lambda x: ctypes.byref(ctypes.c_int(x))
    one, zero = ctypes.byref(ctypes.c_double(1)), ctypes.byref(ctypes.c_double(0))
    process.dgemm_(trans, b"N", number(m), number(2), number(2), one, a.ctypes.data_as(ctypes.c_void_p), number(lda),
                   b.ctypes.data_as(ctypes.c_void_p), number(2), zero, c.ctypes.data_as(ctypes.c_void_p), number(2),
                   ctypes.c_size_t(1), ctypes.c_size_t(1))


def main():
    warm = np.ones((3, 3)) @ np.full((3, 3), 2.0)
    failures = [] if np.all(warm == 6) else ["numpy's product is wrong"]
    cases = [({"m": -1, "lda": 2}, 3), ({"m": 2, "lda": 1}, 8), ({"m": 2, "lda": 2, "trans": b"X"}, 1)]
    for arguments, position in cases:
        c = np.full((2, 2), 5.0)
        try:
            dgemm(c=c, **arguments)
            failures.append(f"{arguments}: no error was raised")
        except ValueError as error:
            print(error)
            if "DGEMM" not in str(error) or f"parameter number {position} " not in str(error):
                failures.append(f"{arguments}: the message is {error}")
        if not np.all(c == 5):
            failures.append(f"{arguments}: C was changed")
    c = np.full((2, 2), np.nan)
    dgemm(m=2, lda=2, c=c)
    if not np.all(c == 2):
        failures.append("the good call after the bad ones is wrong")
    for words in failures:
        print("FAIL", words)
    print(f"numpy_error: {len(cases)} bad calls, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
