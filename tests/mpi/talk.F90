! SPDX-License-Identifier: MIT
! More is posted than comes: what was received is in statuses, which the program ignores but for some.
program talk
  use mpi
  implicit none
  integer, parameter :: room = 1000
  integer :: rank, ranks, next, last, turn, n, i, which, done, error
  integer :: requests(4), some(4), statuses(MPI_STATUS_SIZE, 4)
  logical :: all_done
  double precision :: out(room), in(room, 3)

  out = 1
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  do turn = 1, 12
    n = turn * 10 + rank
    call MPI_Irecv(in(1, 1), room, MPI_DOUBLE_PRECISION, last, 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Irecv(in(1, 2), room, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, requests(2), error)
    call MPI_Isend(out, n, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, requests(3), error)
    call MPI_Isend(out, 2 * n, MPI_DOUBLE_PRECISION, last, 2, MPI_COMM_WORLD, requests(4), error)
    select case (mod(turn, 6))
    case (0)
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, error)
    case (1)
      do i = 1, 4
        call MPI_Waitany(4, requests, which, MPI_STATUS_IGNORE, error)
      end do
    case (2)
      all_done = .false.
      do while (.not. all_done)
        call MPI_Testall(4, requests, all_done, MPI_STATUSES_IGNORE, error)
      end do
    case (3)
      call MPI_Waitall(4, requests, statuses, error)
    case default
      i = 0
      do while (i < 4)
        if (mod(turn, 6) == 4) then
          call MPI_Waitsome(4, requests, done, some, MPI_STATUSES_IGNORE, error)
        else
          call MPI_Testsome(4, requests, done, some, statuses, error)
        end if
        i = i + done
      end do
    end select
    call MPI_Sendrecv(out, n, MPI_REAL, next, 3, in(1, 3), room, MPI_REAL, last, 3, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, error)
  end do
  call MPI_Send_init(out, 77, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(1), error)
  call MPI_Recv_init(in, room, MPI_INTEGER, last, 4, MPI_COMM_WORLD, requests(2), error)
  do turn = 1, 5
    call MPI_Startall(2, requests, error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  end do
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
  call MPI_Finalize(error)
end program
