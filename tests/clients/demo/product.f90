! A Fortran program that knows BLAS and nothing else: sgemm on host memory, its rate, and its error against plain sums
! in double precision. product M N K
program product
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  implicit none
  external :: sgemm
  integer :: m, n, k, round, s, i, j, p
  integer, parameter :: samples = 4000
  integer(int64) :: start, finish, per_second
  real(real32), allocatable :: a(:, :), b(:, :), c(:, :)
  real(real64) :: best, worst, error, total, size_of_terms, term
  real :: where_to(2)

  m = argument(1, 300)
  n = argument(2, 200)
  k = argument(3, 250)
  allocate (a(m, k), b(k, n), c(m, n))
  call random_init(repeatable=.true., image_distinct=.false.)
  call random_number(a)
  call random_number(b)
  a = 2*a - 1
  b = 2*b - 1
  best = huge(best)
  do round = 1, 4  ! the first one also starts what it needs
    c = ieee_value(c, ieee_quiet_nan)
    call system_clock(start, per_second)
    call sgemm('N', 'N', m, n, k, 1.0_real32, a, m, b, k, 0.0_real32, c, m)
    call system_clock(finish)
    best = min(best, real(finish - start, real64)/per_second)
  end do

  worst = 0
  do s = 1, samples
    call random_number(where_to)
    i = 1 + int(where_to(1)*m*0.999)
    j = 1 + int(where_to(2)*n*0.999)
    total = 0
    size_of_terms = 0
    do p = 1, k
      term = real(a(i, p), real64)*b(p, j)
      total = total + term
      size_of_terms = size_of_terms + abs(term)
    end do
    error = abs(c(i, j) - total)/size_of_terms
    if (.not. error <= worst) worst = error  ! keeps a NaN
    if (.not. worst <= huge(worst)) exit
  end do
  write (*, '("sgemm ", 2(i0, "x"), i0, ": ", f0.1, " GFLOP/s; error ", es7.1, " in ", i0, " sampled elements")') &
    m, n, k, 2d-9*m*n*k/best, worst, samples
  if (.not. worst <= (k + 2)*epsilon(1.0_real32)) error stop 1

contains
  integer function argument(position, default)
    integer, intent(in) :: position, default
    character(len=16) :: text
    argument = default
    if (command_argument_count() < position) return
    call get_command_argument(position, text)
    read (text, *) argument
  end function argument
end program product
