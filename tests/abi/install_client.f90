! Uses skgemm.f90 from Fortran: the versions agree, the structs are laid out as in C, the BLAS names multiply, and the
! native API makes a handle and a plan, or says in words why there is none.
program install_client
  use skgemm
  implicit none
  integer(c_int), parameter :: m = 3, n = 2, k = 4
  integer(c_int16_t), parameter :: half_one = int(z'3c00', c_int16_t), half_four = int(z'4400', c_int16_t)
  real(c_double) :: a(m, k), b(n, k), c(m, n), want(m, n)
  real(c_float) :: c32(m, n)
  integer(c_int16_t) :: ha(m, k), hb(k, n), hc(m, n)
  integer :: i, j, p

  call check(skgemm_version() == 100, "the version is 0.1.0")
  do p = 1, k
    do i = 1, m
      a(i, p) = i - 2*p
    end do
    do j = 1, n
      b(j, p) = 3*j + p
    end do
  end do
  want = 0
  do p = 1, k
    do j = 1, n
      do i = 1, m
        want(i, j) = want(i, j) + 2*a(i, p)*b(j, p)
      end do
    end do
  end do
  c = 1
  call dgemm('N', 'T', m, n, k, 2d0, a, m, b, n, 0d0, c, m)
  call check(all(c == want), "dgemm")
  c32 = 1
  call sgemm('n', 't', m, n, k, 1.0, real(a, c_float), m, real(b, c_float), n, 1.0, c32, m)
  call check(all(2*(c32 - 1) == want), "sgemm")
  ha = half_one
  hb = half_one
  call hgemm('N', 'N', m, n, k, half_one, ha, m, hb, k, 0_c_int16_t, hc, m)
  call check(all(hc == half_four), "hgemm")
  call native_api()

contains

  subroutine native_api()
    type(c_ptr) :: handle
    type(skgemm_gemm_t), target :: gemm
    type(skgemm_plan_t) :: plan
    integer(c_int) :: status
    real(c_float), target :: one = 1, zero = 0

    call check(c_sizeof(gemm) == 144 .and. c_sizeof(plan) == 136, "the structs are as long as in C")
    call check(skgemm_destroy(c_null_ptr) == skgemm_not_initialized, "destroying nothing is told")
    call check(len(skgemm_status_string(skgemm_no_device)) > 0, "statuses have words")
    status = skgemm_create(handle)
    if (status == skgemm_no_device .or. status == skgemm_arch_mismatch) then
      call check(len(skgemm_last_error()) > 0, "a missing GPU is explained")
      print '(4a)', "native API: ", skgemm_status_string(status), ": ", skgemm_last_error()
      return
    end if
    call check(status == skgemm_success, "skgemm_create")
    gemm%m = 1024
    gemm%n = 512
    gemm%k = 256
    gemm%lda = gemm%m
    gemm%ldb = gemm%k
    gemm%ldc = gemm%m
    gemm%alpha = c_loc(one)
    gemm%beta = c_loc(zero)
    gemm%a = c_loc(gemm)  ! never read: pointers of a plan query count for their alignment
    gemm%b = gemm%a
    gemm%c = gemm%a
    call check(skgemm_gemm_plan(handle, gemm, plan) == skgemm_success, "skgemm_gemm_plan")
    call check(plan%tiles >= 1 .and. plan%tile_k > 0 .and. plan%predicted_us > 0, "the plan is filled")
    call check(skgemm_destroy(handle) == skgemm_success, "skgemm_destroy")
  end subroutine

  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print '(2a)', "FAILED: ", what
    error stop 1
  end subroutine
end program install_client
