! SPDX-License-Identifier: MIT
! The same calls as halo.c through mpif.h (-DMPIF), `use mpi` (-DUSE_MPI) or `use mpi_f08` (neither), where errors are
! not asked for.
#if defined(MPIF)
#define MODULES
#define HEADER include 'mpif.h'
#elif defined(USE_MPI)
#define MODULES use mpi
#define HEADER
#else
#define MODULES use mpi_f08
#define HEADER
#endif
#if defined(MPIF) || defined(USE_MPI)
#define HANDLE(KIND) integer
#define STATUS(N) integer, dimension(MPI_STATUS_SIZE, N)
#define EACH(S) S
#define ONE(S) S(:, 1)
#define SOURCE(S) S(MPI_SOURCE, 1)
#define ERR , ierror
#define ERR_ONLY ierror
#else
#define HANDLE(KIND) type(KIND)
#define STATUS(N) type(MPI_Status), dimension(N)
#define EACH(S) S
#define ONE(S) S(1)
#define SOURCE(S) S(1)%MPI_SOURCE
#define ERR
#define ERR_ONLY
#endif

module shared
    MODULES
    implicit none
    HEADER
    integer, parameter :: turns = 10, cells = 8, lots = 70
    integer :: me, ranks, left, right, ierror, passed
    integer(8) :: total = 0
    HANDLE(MPI_Comm) :: comm

contains

    subroutine nonblocking
        integer, asynchronous :: out(cells), in(cells, 2)
        integer :: value, turn, i
        HANDLE(MPI_Request) :: request(4)
        do turn = 1, turns
            do i = 1, cells
                out(i) = me * turn + i - 1
            end do
            call MPI_Irecv(in(1, 1), cells, MPI_INTEGER, left, 1, comm, request(1) ERR)
            call MPI_Irecv(in(1, 2), cells, MPI_INTEGER, right, 2, comm, request(2) ERR)
            call MPI_Isend(out, cells, MPI_INTEGER, left, 2, comm, request(3) ERR)
            call MPI_Isend(out, cells, MPI_INTEGER, right, 1, comm, request(4) ERR)
            call MPI_Waitall(4, request, MPI_STATUSES_IGNORE ERR)
            value = in(2, 1) + in(3, 2)
            call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, comm ERR)
            total = total + value
        end do
    end subroutine

    subroutine many
        integer, asynchronous :: out(lots / 2), in(lots / 2)
        integer :: i
        HANDLE(MPI_Request) :: request(lots)
        do i = 1, lots / 2
            out(i) = me + i - 1
            call MPI_Irecv(in(i), 1, MPI_INTEGER, left, i - 1, comm, request(2 * i - 1) ERR)
            call MPI_Isend(out(i), 1, MPI_INTEGER, right, i - 1, comm, request(2 * i) ERR)
        end do
        call MPI_Waitall(lots, request, MPI_STATUSES_IGNORE ERR)
        total = total + in(lots / 2)
    end subroutine

    subroutine blocking
        integer :: out(1), in(1)
        STATUS(1) :: status
        out = me
        call MPI_Sendrecv(out, 1, MPI_INTEGER, right, 3, in, 1, MPI_INTEGER, left, 3, comm, MPI_STATUS_IGNORE ERR)
        total = total + in(1)
        if (mod(me, 2) == 0) then
            call MPI_Send(out, 1, MPI_INTEGER, right, 4, comm ERR)
            call MPI_Recv(in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, comm, ONE(status) ERR)
        else
            call MPI_Recv(in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 4, comm, ONE(status) ERR)
            call MPI_Send(out, 1, MPI_INTEGER, left, 5, comm ERR)
        end if
        total = total + SOURCE(status)
        if (mod(me, 2) == 0) then
            call MPI_Send(out, 0, MPI_INTEGER, MPI_PROC_NULL, 4, comm ERR)
        else
            call MPI_Recv(in, 0, MPI_INTEGER, MPI_PROC_NULL, 4, comm, MPI_STATUS_IGNORE ERR)
        end if
    end subroutine

    subroutine exchange(request, in)
        HANDLE(MPI_Request), intent(out) :: request(1)
        integer, asynchronous :: in(1)
        integer, save :: out(1)
        out = me + 7
        call MPI_Irecv(in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 6, comm, request(1) ERR)
        call MPI_Send(out, 1, MPI_INTEGER, right, 6, comm ERR)
    end subroutine

    subroutine completions
        integer, asynchronous :: in(1)
        integer :: own(1), where_, number, indices(1)
        logical :: flag
        HANDLE(MPI_Request) :: request(1)
        STATUS(1) :: status
        own = me
        call exchange(request, in)
        call MPI_Wait(request(1), ONE(status) ERR)
        total = total + in(1) + SOURCE(status)
        call exchange(request, in)
        call MPI_Waitany(1, request, where_, ONE(status) ERR)
        total = total + in(1) + where_ - 1 + SOURCE(status)
        call exchange(request, in)
        call MPI_Waitsome(1, request, number, indices, EACH(status) ERR)
        total = total + in(1) + number + indices(1) - 1 + SOURCE(status)
        call exchange(request, in)
        flag = .false.
        do while (.not. flag)
            call MPI_Test(request(1), flag, ONE(status) ERR)
        end do
        total = total + in(1) + SOURCE(status)
        call exchange(request, in)
        flag = .false.
        do while (.not. flag)
            call MPI_Testall(1, request, flag, EACH(status) ERR)
        end do
        total = total + in(1) + SOURCE(status)
        call exchange(request, in)
        flag = .false.
        do while (.not. flag)
            call MPI_Testany(1, request, where_, flag, ONE(status) ERR)
        end do
        total = total + in(1) + where_ - 1 + SOURCE(status)
        call exchange(request, in)
        number = 0
        do while (number == 0)
            call MPI_Testsome(1, request, number, indices, EACH(status) ERR)
        end do
        total = total + in(1) + indices(1) - 1 + SOURCE(status)
        call MPI_Isend(own, 1, MPI_INTEGER, right, 8, comm, request(1) ERR)
        call MPI_Probe(MPI_ANY_SOURCE, 8, comm, ONE(status) ERR)
        flag = .false.
        do while (.not. flag)
            call MPI_Iprobe(left, 8, comm, flag, ONE(status) ERR)
        end do
        call MPI_Recv(in, 1, MPI_INTEGER, SOURCE(status), 8, comm, MPI_STATUS_IGNORE ERR)
        call MPI_Wait(request(1), MPI_STATUS_IGNORE ERR)
        total = total + in(1)
    end subroutine

    subroutine matched
        integer, asynchronous :: in(1), own(1)
        logical :: flag
        HANDLE(MPI_Message) :: message
        HANDLE(MPI_Request) :: request, second
        own = me
        call MPI_Isend(own, 1, MPI_INTEGER, right, 10, comm, request ERR)
        call MPI_Mprobe(MPI_ANY_SOURCE, 10, comm, message, MPI_STATUS_IGNORE ERR)
        call MPI_Mrecv(in, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE ERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE ERR)
        total = total + in(1)
        call MPI_Isend(own, 1, MPI_INTEGER, right, 11, comm, request ERR)
        flag = .false.
        do while (.not. flag)
            call MPI_Improbe(left, 11, comm, flag, message, MPI_STATUS_IGNORE ERR)
        end do
        call MPI_Imrecv(in, 1, MPI_INTEGER, message, second ERR)
        call MPI_Wait(second, MPI_STATUS_IGNORE ERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE ERR)
        total = total + in(1)
        call MPI_Mprobe(MPI_PROC_NULL, 10, comm, message, MPI_STATUS_IGNORE ERR)
        call MPI_Mrecv(in, 0, MPI_INTEGER, message, MPI_STATUS_IGNORE ERR)
    end subroutine

    subroutine ignored
        integer, asynchronous :: in(1), own(1)
        integer :: where_
        logical :: flag
        HANDLE(MPI_Request) :: request(1)
        own = me
        call exchange(request, in)
        call MPI_Wait(request(1), MPI_STATUS_IGNORE ERR)
        call exchange(request, in)
        call MPI_Waitany(1, request, where_, MPI_STATUS_IGNORE ERR)
        call exchange(request, in)
        flag = .false.
        do while (.not. flag)
            call MPI_Test(request(1), flag, MPI_STATUS_IGNORE ERR)
        end do
        call exchange(request, in)
        flag = .false.
        do while (.not. flag)
            call MPI_Testany(1, request, where_, flag, MPI_STATUS_IGNORE ERR)
        end do
        call MPI_Isend(own, 1, MPI_INTEGER, right, 12, comm, request(1) ERR)
        call MPI_Probe(MPI_ANY_SOURCE, 12, comm, MPI_STATUS_IGNORE ERR)
        flag = .false.
        do while (.not. flag)
            call MPI_Iprobe(MPI_ANY_SOURCE, 12, comm, flag, MPI_STATUS_IGNORE ERR)
        end do
        call MPI_Recv(in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 12, comm, MPI_STATUS_IGNORE ERR)
        call MPI_Wait(request(1), MPI_STATUS_IGNORE ERR)
        total = total + in(1)
    end subroutine

    subroutine persistent
        integer, asynchronous :: out(1), in(1)
        integer :: turn
        HANDLE(MPI_Request) :: request(2)
        call MPI_Recv_init(in, 1, MPI_INTEGER, left, 9, comm, request(1) ERR)
        call MPI_Send_init(out, 1, MPI_INTEGER, right, 9, comm, request(2) ERR)
        do turn = 1, turns
            out = me + turn
            call MPI_Start(request(1) ERR)
            call MPI_Start(request(2) ERR)
            call MPI_Wait(request(1), MPI_STATUS_IGNORE ERR)
            call MPI_Wait(request(2), MPI_STATUS_IGNORE ERR)
            total = total + in(1)
        end do
        call MPI_Startall(2, request ERR)
        call MPI_Waitall(2, request, MPI_STATUSES_IGNORE ERR)
        call MPI_Request_free(request(1) ERR)
        call MPI_Request_free(request(2) ERR)
    end subroutine

    subroutine collectives
        integer :: counts(64), displs(64), bytes(64), i
        integer, asynchronous :: all(64), one(1)
        HANDLE(MPI_Datatype) :: types(64)
        HANDLE(MPI_Request) :: request
        one = me + 1
        do i = 1, ranks
            counts(i) = 1
            displs(i) = i - 1
            bytes(i) = 4 * (i - 1)
            types(i) = MPI_INTEGER
            all(i) = me
        end do
        call MPI_Bcast(one, 1, MPI_INTEGER, 1, comm ERR)
        call MPI_Reduce(one, all, 1, MPI_INTEGER, MPI_MAX, 0, comm ERR)
        if (me == 0) then
            call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, comm ERR)
        else
            call MPI_Gather(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, comm ERR)
        end if
        call MPI_Gatherv(one, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, 0, comm ERR)
        all(me + 1) = me
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, comm ERR)
        call MPI_Alltoallv(MPI_IN_PLACE, counts, displs, MPI_INTEGER, all, counts, displs, MPI_INTEGER, comm ERR)
        call MPI_Alltoallw(MPI_IN_PLACE, counts, bytes, types, all, counts, bytes, types, comm ERR)
        call MPI_Ibarrier(comm, request ERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE ERR)
        call MPI_Iallreduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_SUM, comm, request ERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE ERR)
        call MPI_Barrier(comm ERR)
        total = total + one(1) + all(ranks)
    end subroutine

    subroutine onesided
        use, intrinsic :: iso_c_binding, only: c_ptr
        integer, asynchronous :: window(2)
        integer :: own(1)
        integer(MPI_ADDRESS_KIND) :: place
#if defined(MPIF)
        integer(MPI_ADDRESS_KIND) :: base
#else
        type(c_ptr) :: base
#endif
        HANDLE(MPI_Win) :: win
        own = me
        window = -1
        place = 8
        call MPI_Win_create(window, place, 4, MPI_INFO_NULL, comm, win ERR)
        call MPI_Win_fence(0, win ERR)
        place = 1
        call MPI_Put(own, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win ERR)
        call MPI_Win_fence(0, win ERR)
        call MPI_Win_free(win ERR)
        total = total + window(2)
        place = 4
        call MPI_Win_allocate(place, 4, MPI_INFO_NULL, comm, base, win ERR)
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, left, 0, win ERR)
        place = 0
        call MPI_Put(own, 1, MPI_INTEGER, left, place, 1, MPI_INTEGER, win ERR)
        call MPI_Win_unlock(left, win ERR)
        call MPI_Win_free(win ERR)
    end subroutine

    subroutine communicators
        integer :: dims(2), out(4), in(4)
        logical :: periods(2), remain(2)
        HANDLE(MPI_Comm) :: half, cart, line
        HANDLE(MPI_Request) :: none
        none = MPI_REQUEST_NULL
        dims = [2, ranks / 2]
        periods = .true.
        remain = [.true., .false.]
        out = me
        call MPI_Comm_split(comm, mod(me, 2), me, half ERR)
        call MPI_Barrier(half ERR)
        call MPI_Cart_create(comm, 2, dims, periods, .false., cart ERR)
        call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, cart ERR)
        total = total + in(1) + in(4)
        call MPI_Wait(none, MPI_STATUS_IGNORE ERR)
        call MPI_Cart_sub(cart, remain, line ERR)
        call MPI_Barrier(line ERR)
        call MPI_Comm_free(line ERR)
        call MPI_Comm_free(cart ERR)
        call MPI_Comm_free(half ERR)
    end subroutine

    subroutine files(path)
        character(len=*), intent(in) :: path
        integer :: got(1), own(1)
        integer(MPI_OFFSET_KIND) :: place
        HANDLE(MPI_File) :: file
        own = me
        got = -1
        call MPI_File_open(comm, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file ERR)
        place = 0
        call MPI_File_set_view(file, place, MPI_INTEGER, MPI_INTEGER, "native", MPI_INFO_NULL ERR)
        place = me
        call MPI_File_write_at_all(file, place, own, 1, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
        call MPI_File_sync(file ERR)
        call MPI_Barrier(comm ERR)
        place = right
        call MPI_File_read_at(file, place, got, 1, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
        call MPI_File_close(file ERR)
        if (me == 0) call MPI_File_delete(path, MPI_INFO_NULL ERR)
        total = total + got(1)
    end subroutine
end module

program halo
    use shared
    implicit none
    integer(8) :: sums(1), mine(1)
    character(len=4096) :: path
    call get_command_argument(1, path)
    call MPI_Init(ERR_ONLY)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm ERR)
    call MPI_Comm_rank(comm, me ERR)
    call MPI_Comm_size(comm, ranks ERR)
    left = mod(me + ranks - 1, ranks)
    right = mod(me + 1, ranks)
    call nonblocking
    call many
    call blocking
    call completions
    call matched
    call ignored
    call persistent
    call collectives
    call onesided
    call communicators
    call files(trim(path))
    call MPI_Pcontrol(0)
    call MPI_Barrier(comm ERR)
    call MPI_Pcontrol(1)
    mine = total
    call MPI_Reduce(mine, sums, 1, MPI_INTEGER8, MPI_SUM, 0, comm ERR)
    if (me == 0) print '("total ", i0)', sums(1)
    call MPI_Comm_free(comm ERR)
    call MPI_Finalize(ERR_ONLY)
end program
