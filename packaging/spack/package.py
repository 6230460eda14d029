# SPDX-License-Identifier: MIT
# For a repository of one's own: spack repo create mine; mkdir mine/packages/pythia; put this file there, and the tarball
# (make dist) where spack is called.
import os

from spack.package import *


class Pythia(AutotoolsPackage):
    """An MPI-aware distributed oracle for hybrid MPI + OpenMP programs: records a run as a grammar, predicts later ones and
    reports where their time goes."""

    url = "file://{0}/pythia-0.2.0.tar.xz".format(os.getcwd())
    manual_download = True
    license("MIT")

    version("0.2.0")

    variant("mpi", default=True, description="wrappers of MPI calls")
    variant("fortran", default=True, description="wrappers for mpif.h, use mpi and use mpi_f08", when="+mpi")
    variant("openmp", default=True, description="hooks of GNU OpenMP")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("pkgconfig", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("binutils+libiberty")
    depends_on("capstone", when="+openmp")
    depends_on("cjson")
    depends_on("elfutils")
    depends_on("hwloc@2.5:")
    depends_on("libunwind")
    depends_on("xxhash")
    depends_on("zstd")
    depends_on("check", type="test")
    depends_on("python@3.7:", type=("build", "run"))

    def configure_args(self):
        mpi = self.spec["mpi"].mpicc if self.spec.satisfies("+mpi") else "no"
        args = ["--with-mpi={0}".format(mpi)]
        args += self.with_or_without("omp", variant="openmp")
        if self.spec.satisfies("~fortran"):
            args.append("--disable-fortran")
        return args
