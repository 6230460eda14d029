# SPDX-License-Identifier: MIT
# The same calls as halo.c, through mpi4py, which gives a peer that is none no bytes.
import array
import sys

import mpi4py

mpi4py.rc.thread_level = "single"  # else mpi4py asks for more
mpi4py.rc.threads = False
from mpi4py import MPI  # noqa: E402

TURNS, CELLS, MANY = 10, 8, 70
comm = MPI.COMM_WORLD.Dup()
me, ranks = comm.Get_rank(), comm.Get_size()
left, right = (me + ranks - 1) % ranks, (me + 1) % ranks
total = 0


def ints(*values):
    return array.array("i", values)


# A count would be that of one block.
def buffer(data, *count):
    return [data, *count, MPI.INT]


def nonblocking():
    global total
    first, second = ints(*[0] * CELLS), ints(*[0] * CELLS)
    for turn in range(1, TURNS + 1):
        out = ints(*[me * turn + i for i in range(CELLS)])
        requests = [comm.Irecv(buffer(first), left, 1), comm.Irecv(buffer(second), right, 2),
                    comm.Isend(buffer(out), left, 2), comm.Isend(buffer(out), right, 1)]
        MPI.Request.Waitall(requests)
        value = ints(first[1] + second[2])
        comm.Allreduce(MPI.IN_PLACE, buffer(value), MPI.SUM)
        total += value[0]


def many():
    global total
    out = [ints(me + i) for i in range(MANY // 2)]
    into = [ints(0) for _ in range(MANY // 2)]
    requests = []
    for i in range(MANY // 2):
        requests.append(comm.Irecv(buffer(into[i]), left, i))
        requests.append(comm.Isend(buffer(out[i]), right, i))
    MPI.Request.Waitall(requests)
    total += into[-1][0]


def blocking():
    global total
    out, into, status = ints(me), ints(0), MPI.Status()
    comm.Sendrecv(buffer(out), right, 3, buffer(into), left, 3)
    total += into[0]
    if me % 2 == 0:
        comm.Send(buffer(out), right, 4)
        comm.Recv(buffer(into), MPI.ANY_SOURCE, 5, status)
    else:
        comm.Recv(buffer(into), MPI.ANY_SOURCE, 4, status)
        comm.Send(buffer(out), left, 5)
    total += status.Get_source()
    if me % 2 == 0:
        comm.Send(buffer(out), MPI.PROC_NULL, 4)
    else:
        comm.Recv(buffer(into), MPI.PROC_NULL, 4)


def exchange(into):
    out = ints(me + 7)
    request = comm.Irecv(buffer(into), MPI.ANY_SOURCE, 6)
    comm.Send(buffer(out), right, 6)
    return request


def until(test):
    while not test():
        pass


def completions():
    global total
    into, status = ints(0), MPI.Status()
    exchange(into).Wait(status)
    total += into[0] + status.Get_source()
    index = MPI.Request.Waitany([exchange(into)], status)
    total += into[0] + index + status.Get_source()
    statuses = [MPI.Status()]
    indices = MPI.Request.Waitsome([exchange(into)], statuses)
    total += into[0] + len(indices) + indices[0] + statuses[0].Get_source()
    request = exchange(into)
    until(lambda: request.Test(status))
    total += into[0] + status.Get_source()
    requests = [exchange(into)]
    until(lambda: MPI.Request.Testall(requests, statuses))
    total += into[0] + statuses[0].Get_source()
    requests, found = [exchange(into)], []

    def any_done():
        index, flag = MPI.Request.Testany(requests, status)
        found[:] = [index]
        return flag
    until(any_done)
    total += into[0] + found[0] + status.Get_source()
    requests = [exchange(into)]

    def some_done():
        found[:] = MPI.Request.Testsome(requests, statuses) or []
        return found
    until(some_done)
    total += into[0] + found[0] + statuses[0].Get_source()
    own = ints(me)
    request = comm.Isend(buffer(own), right, 8)
    comm.Probe(MPI.ANY_SOURCE, 8, status)
    until(lambda: comm.Iprobe(left, 8, status))
    comm.Recv(buffer(into), status.Get_source(), 8)
    request.Wait()
    total += into[0]


def matched():
    global total
    own, into = ints(me), ints(0)
    request = comm.Isend(buffer(own), right, 10)
    comm.Mprobe(MPI.ANY_SOURCE, 10).Recv(buffer(into))
    request.Wait()
    total += into[0]
    request = comm.Isend(buffer(own), right, 11)
    message = None
    while message is None:
        message = comm.Improbe(left, 11)
    message.Irecv(buffer(into)).Wait()
    request.Wait()
    total += into[0]
    comm.Mprobe(MPI.PROC_NULL, 10).Recv(buffer(into))


def ignored():
    global total
    own, into = ints(me), ints(0)
    exchange(into).Wait()
    MPI.Request.Waitany([exchange(into)])
    request = exchange(into)
    until(lambda: request.Test())
    requests = [exchange(into)]
    until(lambda: MPI.Request.Testany(requests)[1])
    request = comm.Isend(buffer(own), right, 12)
    comm.Probe(MPI.ANY_SOURCE, 12)
    until(lambda: comm.Iprobe(MPI.ANY_SOURCE, 12))
    comm.Recv(buffer(into), MPI.ANY_SOURCE, 12)
    request.Wait()
    total += into[0]


def persistent():
    global total
    out, into = ints(0), ints(0)
    requests = [comm.Recv_init(buffer(into), left, 9), comm.Send_init(buffer(out), right, 9)]
    for turn in range(1, TURNS + 1):
        out[0] = me + turn
        for request in requests:
            request.Start()
        for request in requests:
            request.Wait()
        total += into[0]
    MPI.Prequest.Startall(requests)
    MPI.Request.Waitall(requests)
    for request in requests:
        request.Free()


def collectives():
    global total
    one, everyone = ints(me + 1), ints(*[me] * ranks)
    counts, displs = [1] * ranks, list(range(ranks))
    bytes_, types = [4 * i for i in range(ranks)], [MPI.INT] * ranks
    comm.Bcast(buffer(one), 1)
    comm.Reduce(buffer(one), buffer(everyone, 1), MPI.MAX, 0)
    comm.Gather(MPI.IN_PLACE if me == 0 else buffer(one), buffer(everyone) if me == 0 else None, 0)
    comm.Gatherv(buffer(one), [everyone, counts, displs, MPI.INT] if me == 0 else None, 0)
    everyone[me] = me
    comm.Allgather(MPI.IN_PLACE, buffer(everyone))
    comm.Alltoallv(MPI.IN_PLACE, [everyone, counts, displs, MPI.INT])
    comm.Alltoallw(MPI.IN_PLACE, [everyone, counts, bytes_, types])
    comm.Ibarrier().Wait()
    comm.Iallreduce(MPI.IN_PLACE, buffer(one), MPI.SUM).Wait()
    comm.Barrier()
    total += one[0] + everyone[-1]


def onesided():
    global total
    own, window = ints(me), ints(0, -1)
    win = MPI.Win.Create(window, 4, MPI.INFO_NULL, comm)
    win.Fence(0)
    win.Put(buffer(own), right, [1, 1, MPI.INT])
    win.Fence(0)
    win.Free()
    total += window[1]
    win = MPI.Win.Allocate(4, 4, MPI.INFO_NULL, comm)
    win.Lock(left, MPI.LOCK_EXCLUSIVE)
    win.Put(buffer(own), left, [0, 1, MPI.INT])
    win.Unlock(left)
    win.Free()


def communicators():
    global total
    out, into = ints(me, me, me, me), ints(0, 0, 0, 0)
    half = comm.Split(me % 2, me)
    half.Barrier()
    cart = comm.Create_cart([2, ranks // 2], [True, True], False)
    cart.Neighbor_alltoall(buffer(out), buffer(into))
    total += into[0] + into[3]
    MPI.Request().Wait()
    line = cart.Sub([True, False])
    line.Barrier()
    line.Free()
    cart.Free()
    half.Free()


def files(path):
    global total
    own, got = ints(me), ints(-1)
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_view(0, MPI.INT, MPI.INT, "native")
    file.Write_at_all(me, buffer(own))
    file.Sync()
    comm.Barrier()
    file.Read_at(right, buffer(got))
    file.Close()
    if me == 0:
        MPI.File.Delete(path)
    total += got[0]


nonblocking()
many()
blocking()
completions()
matched()
ignored()
persistent()
collectives()
onesided()
communicators()
files(sys.argv[1])
MPI.Pcontrol(0)
comm.Barrier()
MPI.Pcontrol(1)
mine, sums = array.array("q", [total]), array.array("q", [0])
comm.Reduce([mine, 1, MPI.LONG], [sums, 1, MPI.LONG], MPI.SUM, 0)
if me == 0:
    print("total", sums[0])
comm.Free()
