! A Fortran program that links -lblas and knows nothing of libskgemm: sgemm and dgemm, the four transpose pairs, beta 0,
! 0.5 and 1, up to 600^3. Reference: plain loops in double precision. C starts as NaN where beta is 0, the rows between
! m and ldc hold a mark, and comparisons are all(|x - r| <= bound): maxval would drop a NaN.
module client
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  use, intrinsic :: iso_fortran_env, only: r4 => real32, r8 => real64, int64
  implicit none
  real(r8), parameter :: mark = 12345.0_r8
  integer :: calls = 0, failures = 0

  interface
    subroutine sgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: r4
      character, intent(in) :: transa, transb
      integer, intent(in) :: m, n, k, lda, ldb, ldc
      real(r4), intent(in) :: alpha, beta, a(lda, *), b(ldb, *)
      real(r4), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine dgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: r8
      character, intent(in) :: transa, transb
      integer, intent(in) :: m, n, k, lda, ldb, ldc
      real(r8), intent(in) :: alpha, beta, a(lda, *), b(ldb, *)
      real(r8), intent(inout) :: c(ldc, *)
    end subroutine
  end interface

contains

  ! want = alpha*op(A)*op(B) + beta*C and magnitude = the same with every term positive.
  subroutine reference(ta, tb, m, n, k, alpha, a, b, beta, c, want, magnitude)
    character, intent(in) :: ta, tb
    integer, intent(in) :: m, n, k
    real(r8), intent(in) :: alpha, beta, a(:, :), b(:, :), c(:, :)
    real(r8), intent(out) :: want(m, n), magnitude(m, n)
    integer :: i, j, p
    real(r8) :: bpj, aip
    want = 0
    magnitude = 0
    do j = 1, n
      do p = 1, k
        if (tb == 'N') then
          bpj = b(p, j)
        else
          bpj = b(j, p)
        end if
        do i = 1, m
          if (ta == 'N') then
            aip = a(i, p)
          else
            aip = a(p, i)
          end if
          want(i, j) = want(i, j) + aip * bpj
          magnitude(i, j) = magnitude(i, j) + abs(aip * bpj)
        end do
      end do
    end do
    want = alpha * want
    magnitude = abs(alpha) * magnitude
    if (beta /= 0) then
      want = want + beta * c(1:m, 1:n)
      magnitude = magnitude + abs(beta * c(1:m, 1:n))
    end if
  end subroutine

  subroutine verify(name, ta, tb, m, n, k, ldc, beta, got, want, magnitude, unit)
    character(*), intent(in) :: name
    character, intent(in) :: ta, tb
    integer, intent(in) :: m, n, k, ldc
    real(r8), intent(in) :: beta, got(:, :), want(:, :), magnitude(:, :), unit
    logical :: right
    right = all(abs(got(1:m, 1:n) - want) <= 2 * (k + 2) * unit * magnitude)
    right = right .and. all(got(m + 1:ldc, :) == mark)
    calls = calls + 1
    if (.not. right) then
      failures = failures + 1
      print '(A, 1X, A, 2A1, 3(A, I0), A, F4.1)', 'FAIL', name, ta, tb, ' m=', m, ' n=', n, ' k=', k, ' beta=', beta
    end if
  end subroutine

  subroutine run(m, n, k)
    integer, intent(in) :: m, n, k
    character, parameter :: ops(2) = ['N', 'T']
    real(r8), parameter :: alpha = 0.75_r8, betas(3) = [0.0_r8, 0.5_r8, 1.0_r8]
    real(r8), allocatable :: a(:, :), b(:, :), c(:, :), x(:, :), want(:, :), magnitude(:, :)
    real(r4), allocatable :: a4(:, :), b4(:, :), x4(:, :)
    integer :: ia, ib, ibeta, lda, ldb, ldc
    character :: ta, tb
    allocate (want(m, n), magnitude(m, n))
    ldc = m + 3
    do ia = 1, 2
      do ib = 1, 2
        ta = ops(ia)
        tb = ops(ib)
        lda = merge(m, k, ta == 'N') + 1
        ldb = merge(k, n, tb == 'N') + 2
        allocate (a(lda, merge(k, m, ta == 'N')), b(ldb, merge(n, k, tb == 'N')), c(ldc, n))
        call random_number(a)
        call random_number(b)
        call random_number(c)
        a = real(real(a - 0.5_r8, r4), r8)  ! the same values in both precisions
        b = real(real(b - 0.5_r8, r4), r8)
        c = real(real(c - 0.5_r8, r4), r8)
        a4 = real(a, r4)
        b4 = real(b, r4)
        do ibeta = 1, 3
          call reference(ta, tb, m, n, k, alpha, a, b, betas(ibeta), c, want, magnitude)
          x = c
          if (ibeta == 1) x = ieee_value(mark, ieee_quiet_nan)
          x(m + 1:, :) = mark
          x4 = real(x, r4)
          call dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, betas(ibeta), x, ldc)
          call verify('dgemm', ta, tb, m, n, k, ldc, betas(ibeta), x, want, magnitude, 2.0_r8**(-53))
          call sgemm(ta, tb, m, n, k, real(alpha, r4), a4, lda, b4, ldb, real(betas(ibeta), r4), x4, ldc)
          call verify('sgemm', ta, tb, m, n, k, ldc, betas(ibeta), real(x4, r8), want, magnitude, 2.0_r8**(-24))
        end do
        deallocate (a, b, c, a4, b4)
      end do
    end do
  end subroutine
end module

program fortran_client
  use client
  implicit none
  integer, parameter :: extents(3, 8) = reshape([1, 1, 1, 3, 1, 5, 7, 5, 3, 33, 65, 17, 100, 100, 100, 255, 129, 64, &
                                                 311, 200, 313, 600, 600, 600], [3, 8])
  integer :: i
  do i = 1, size(extents, 2)
    call run(extents(1, i), extents(2, i), extents(3, i))
  end do
  print '(A, I0, A, I0, A)', 'fortran_client: ', calls, ' calls, ', failures, ' bad'
  if (failures /= 0) stop 1
end program
