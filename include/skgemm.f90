! skgemm.f90 - the Fortran module of libskgemm: the native C API (skgemm.h says what each call does) and explicit
! interfaces for the BLAS names. Compile it with your program: gfortran PREFIX/include/skgemm.f90 program.f90 -lskgemm
! A program that declares `external dgemm` takes that out, or names what it wants: use skgemm, only: ...
! In the native API matrices are device pointers (c_ptr); in the BLAS names they are ordinary arrays. Fortran has no
! fp16, so hgemm takes the bit patterns as 16-bit integers, its scalars too.
module skgemm
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: skgemm_success = 0, skgemm_not_initialized = 1, skgemm_alloc_failed = 3, &
    skgemm_invalid_value = 7, skgemm_arch_mismatch = 8, skgemm_execution_failed = 13, skgemm_internal_error = 14, &
    skgemm_not_supported = 15, skgemm_no_device = 32
  integer(c_int), parameter :: skgemm_op_n = 0, skgemm_op_t = 1, skgemm_op_c = 2
  integer(c_int), parameter :: skgemm_r_32f = 0, skgemm_r_64f = 1, skgemm_r_16f = 2, skgemm_r_16bf = 14
  integer(c_int), parameter :: skgemm_pointer_mode_host = 0, skgemm_pointer_mode_device = 1
  integer(c_int), parameter :: skgemm_math_default = 0, skgemm_math_pedantic = 2
  integer(c_int), parameter :: skgemm_schedule_auto = 0, skgemm_schedule_data_parallel = 1, &
    skgemm_schedule_fixed_split = 2, skgemm_schedule_stream_k = 3, skgemm_schedule_one_tile = 4, &
    skgemm_schedule_two_tile = 5
  integer(c_int), parameter :: skgemm_orientation_auto = 0, skgemm_orientation_straight = 1, &
    skgemm_orientation_swapped = 2

  type, bind(C) :: skgemm_gemm_t
    integer(c_int) :: op_a = skgemm_op_n, op_b = skgemm_op_n
    integer(c_int64_t) :: m = 0, n = 0, k = 0
    integer(c_int) :: a_type = skgemm_r_32f, b_type = skgemm_r_32f, c_type = skgemm_r_32f
    type(c_ptr) :: alpha = c_null_ptr
    type(c_ptr) :: a = c_null_ptr
    integer(c_int64_t) :: lda = 0, stride_a = 0
    type(c_ptr) :: b = c_null_ptr
    integer(c_int64_t) :: ldb = 0, stride_b = 0
    type(c_ptr) :: beta = c_null_ptr
    type(c_ptr) :: c = c_null_ptr
    integer(c_int64_t) :: ldc = 0, stride_c = 0
    integer(c_int64_t) :: batch = 0
  end type

  type, bind(C) :: skgemm_plan_t
    character(kind=c_char) :: kernel(48)
    integer(c_int32_t) :: tile_m, tile_n, tile_k
    integer(c_int32_t) :: cluster_m, cluster_n
    integer(c_int32_t) :: swapped
    integer(c_int) :: schedule
    integer(c_int64_t) :: ctas, split, sk_tiles, tiles, steps_per_tile
    integer(c_size_t) :: workspace_bytes
    real(c_double) :: predicted_us
  end type

  interface
    integer(c_int) function skgemm_version() bind(C)
      import
    end function
    integer(c_int) function skgemm_create(handle) bind(C)
      import
      type(c_ptr), intent(out) :: handle
    end function
    integer(c_int) function skgemm_destroy(handle) bind(C)
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int) function skgemm_set_stream(handle, stream) bind(C)
      import
      type(c_ptr), value :: handle, stream
    end function
    integer(c_int) function skgemm_get_stream(handle, stream) bind(C)
      import
      type(c_ptr), value :: handle
      type(c_ptr), intent(out) :: stream
    end function
    integer(c_int) function skgemm_set_pointer_mode(handle, mode) bind(C)
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: mode
    end function
    integer(c_int) function skgemm_get_pointer_mode(handle, mode) bind(C)
      import
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: mode
    end function
    integer(c_int) function skgemm_set_math_mode(handle, mode) bind(C)
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: mode
    end function
    integer(c_int) function skgemm_get_math_mode(handle, mode) bind(C)
      import
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: mode
    end function
    integer(c_int) function skgemm_set_sm_limit(handle, sms) bind(C)
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: sms
    end function
    integer(c_int) function skgemm_get_sm_limit(handle, sms) bind(C)
      import
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: sms
    end function
    integer(c_int) function skgemm_set_workspace(handle, workspace, bytes) bind(C)
      import
      type(c_ptr), value :: handle, workspace
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function skgemm_set_schedule(handle, schedule, parameter) bind(C)
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: schedule
      integer(c_int64_t), value :: parameter
    end function
    integer(c_int) function skgemm_set_tile(handle, width, orientation) bind(C)
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: width
      integer(c_int), value :: orientation
    end function
    integer(c_int) function skgemm_set_cluster(handle, cluster_m, cluster_n) bind(C)
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: cluster_m, cluster_n
    end function
    ! alpha and beta in host memory; where they are on the device, skgemm_gemm_ex takes their addresses. hgemm takes
    ! fp16 matrices and fp32 scalars.
    integer(c_int) function skgemm_sgemm(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, &
      c, ldc) bind(C)
      import
      type(c_ptr), value :: handle, a, b, c
      integer(c_int), value :: op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_float), intent(in) :: alpha, beta
    end function
    integer(c_int) function skgemm_sgemm_strided_batched(handle, op_a, op_b, m, n, k, alpha, a, &
      lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch) bind(C)
      import
      type(c_ptr), value :: handle, a, b, c
      integer(c_int), value :: op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, batch
      real(c_float), intent(in) :: alpha, beta
    end function
    integer(c_int) function skgemm_dgemm(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, &
      c, ldc) bind(C)
      import
      type(c_ptr), value :: handle, a, b, c
      integer(c_int), value :: op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_double), intent(in) :: alpha, beta
    end function
    integer(c_int) function skgemm_dgemm_strided_batched(handle, op_a, op_b, m, n, k, alpha, a, &
      lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch) bind(C)
      import
      type(c_ptr), value :: handle, a, b, c
      integer(c_int), value :: op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, batch
      real(c_double), intent(in) :: alpha, beta
    end function
    integer(c_int) function skgemm_hgemm(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, &
      c, ldc) bind(C)
      import
      type(c_ptr), value :: handle, a, b, c
      integer(c_int), value :: op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_float), intent(in) :: alpha, beta
    end function
    integer(c_int) function skgemm_hgemm_strided_batched(handle, op_a, op_b, m, n, k, alpha, a, &
      lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch) bind(C)
      import
      type(c_ptr), value :: handle, a, b, c
      integer(c_int), value :: op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, batch
      real(c_float), intent(in) :: alpha, beta
    end function
    ! Any types and batch: set them in skgemm_gemm_t.
    integer(c_int) function skgemm_gemm_ex(handle, gemm) bind(C)
      import
      type(c_ptr), value :: handle
      type(skgemm_gemm_t), intent(in) :: gemm
    end function
    integer(c_int) function skgemm_gemm_plan(handle, gemm, plan) bind(C)
      import
      type(c_ptr), value :: handle
      type(skgemm_gemm_t), intent(in) :: gemm
      type(skgemm_plan_t), intent(out) :: plan
    end function
    integer(c_int) function skgemm_gemm_workspace(handle, gemm, bytes) bind(C)
      import
      type(c_ptr), value :: handle
      type(skgemm_gemm_t), intent(in) :: gemm
      integer(c_size_t), intent(out) :: bytes
    end function

    ! The BLAS names, with default integers.
    subroutine sgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import
      character, intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, lda, ldb, ldc
      real(c_float), intent(in) :: alpha, beta, a(lda, *), b(ldb, *)
      real(c_float), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine dgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import
      character, intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, lda, ldb, ldc
      real(c_double), intent(in) :: alpha, beta, a(lda, *), b(ldb, *)
      real(c_double), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine hgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import
      character, intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, lda, ldb, ldc
      integer(c_int16_t), intent(in) :: alpha, beta, a(lda, *), b(ldb, *)
      integer(c_int16_t), intent(inout) :: c(ldc, *)
    end subroutine

    type(c_ptr) function skgemm_status_string_c(status) bind(C, name="skgemm_status_string")
      import
      integer(c_int), value :: status
    end function
    type(c_ptr) function skgemm_last_error_c() bind(C, name="skgemm_last_error")
      import
    end function
    integer(c_size_t) function skgemm_strlen(text) bind(C, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface
  private :: text_of

contains

  function skgemm_status_string(status) result(words)
    integer(c_int), intent(in) :: status
    character(:), allocatable :: words
    words = text_of(skgemm_status_string_c(status))
  end function

  function skgemm_last_error() result(words)
    character(:), allocatable :: words
    words = text_of(skgemm_last_error_c())
  end function

  function text_of(text) result(words)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: words
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(text, letters, [skgemm_strlen(text)])
    allocate (character(size(letters)) :: words)
    do i = 1, size(letters)
      words(i:i) = letters(i)
    end do
  end function
end module skgemm
