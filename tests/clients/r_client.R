# R's products against sums of elementwise products of expanded columns and rows (outer would be BLAS).
# Comparisons are all(|x - r| <= bound).
loops <- function(a, b) {
  r <- matrix(0, nrow(a), ncol(b))
  for (p in seq_len(ncol(a))) {
    r <- r + matrix(a[, p], nrow(a), ncol(b)) * matrix(b[p, ], nrow(a), ncol(b), byrow = TRUE)
  }
  r
}
bad <- 0
calls <- 0
check <- function(name, x, a, b) {
  bound <- 2 * (ncol(a) + 2) * 2^-53 * loops(abs(a), abs(b))
  right <- isTRUE(all(dim(x) == c(nrow(a), ncol(b)))) && isTRUE(all(abs(x - loops(a, b)) <= bound))
  calls <<- calls + 1
  if (!right) {
    bad <<- bad + 1
    cat("FAIL", name, "m =", nrow(a), "n =", ncol(b), "k =", ncol(a), "\n")
  }
}
set.seed(5)
options(matprod = "blas") # R's default looks for NaN first and then uses a loop of its own
for (extents in list(c(3, 4, 2), c(17, 33, 65), c(64, 64, 64), c(300, 200, 250), c(301, 301, 301))) {
  a <- matrix(runif(extents[1] * extents[3]) - 0.5, extents[1], extents[3])
  b <- matrix(runif(extents[3] * extents[2]) - 0.5, extents[3], extents[2])
  check("a %*% b", a %*% b, a, b)
  check("crossprod", crossprod(t(a), b), a, b)
  check("tcrossprod", tcrossprod(a, t(b)), a, b)
  a <- round(8 * a)
  b <- round(8 * b)
  calls <- calls + 1
  if (!identical(a %*% b, loops(a, b))) {
    bad <- bad + 1
    cat("FAIL integers m =", extents[1], "\n")
  }
}
cat("R:", calls, "products,", bad, "bad\n")
quit(status = as.integer(bad != 0))
