# SPDX-License-Identifier: MIT
# Barriers from all kinds of Python code, through ctypes: for any Python. Each call's line names its function.
import ctypes
import sys
import threading

mpi = ctypes.CDLL(None)
if hasattr(mpi, "ompi_mpi_comm_world"):
    world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
    own = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_self")))
else:
    world, own = ctypes.c_int(0x44000000), ctypes.c_int(0x44000001)
moved = [bytearray(int(n) * 4096) for n in sys.argv[1:]]  # so that code lies elsewhere


def barrier():
    mpi.MPI_Barrier(world)  # call: barrier


def generator():
    for i in range(3):
        mpi.MPI_Barrier(world)  # call: generator
        yield i


def decorated(f):
    def wrapper(*args):
        mpi.MPI_Barrier(world)  # call: decorated.(locals).wrapper
        return f(*args)
    return wrapper


@decorated
def inside(depth):
    mpi.MPI_Barrier(world)  # call: inside
    return depth if depth == 0 else inside(depth - 1)


class Solver:
    def step(self):
        mpi.MPI_Barrier(world)  # call: Solver.step
        mpi.MPI_Barrier(world)  # call: Solver.step

    @classmethod
    def norm(cls):
        return mpi.MPI_Barrier(  # call: Solver.norm
            world)

    def __enter__(self):
        mpi.MPI_Barrier(world)  # call: Solver.__enter__
        return self

    def __exit__(self, *error):
        mpi.MPI_Barrier(world)  # call: Solver.__exit__


def thread(lock):
    for _ in range(5):
        with lock:
            mpi.MPI_Barrier(own)  # call: thread
    both.wait()  # neither takes the other's place
    with lock:
        mpi.MPI_Barrier(own)  # call: thread
    both.wait()


mpi.MPI_Init_thread(None, None, 3, ctypes.byref(ctypes.c_int()))
solver = Solver()
for turn in range(10):
    solver.step()
    if turn % 3 == 0:
        Solver.norm()
list(generator())
inside(3)
with solver:
    barrier()
sorted([2, 1], key=lambda n: mpi.MPI_Barrier(world))  # call: (lambda)
exec("mpi.MPI_Barrier(world)\n\nmpi.MPI_Barrier(world)")
for lines in 1, 2, 3, 4:  # of the same name, at the same address, with the same first line
    exec(compile("\n" * lines + "mpi.MPI_Barrier(world)", "made.py", "exec"))
lock, both = threading.Lock(), threading.Barrier(2)
threads = [threading.Thread(target=thread, args=(lock,)) for _ in range(2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
mpi.MPI_Barrier(world)  # call: (module)
mpi.MPI_Finalize()
sys.stdout.write("done %d\n" % len(moved))
