! SPDX-License-Identifier: MIT
! Regions and the OpenMP functions from Fortran.
program regions
  use omp_lib
  implicit none
  integer :: i, k, n
  real(8) :: x(100), s
  logical :: right
  right = .true.
  do k = 1, 10
     !$omp parallel do
     do i = 1, 100
        x(i) = i
     end do
     s = 0
     !$omp parallel do reduction(+:s) schedule(dynamic, 8)
     do i = 1, 100
        s = s + x(i)
     end do
     n = 0
     !$omp parallel num_threads(2) reduction(+:n)
     n = n + 1
     if (omp_get_num_threads() /= 2 .or. .not. omp_in_parallel()) n = n + 100
     !$omp end parallel
     !$omp parallel if(.false.)
     if (omp_get_thread_num() /= 0 .or. omp_in_parallel()) n = n + 100
     !$omp end parallel
     right = right .and. s == 5050 .and. n == 2 .and. omp_get_max_threads() >= 1
  end do
  print '(a)', merge('right', 'wrong', right)
end program regions
