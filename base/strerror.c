/* SPDX-License-Identifier: MIT */
#include "pythia.h"

const char *pythia_strerror(int error)
{
    switch (error) {
    case 0: return "success";
    case PYTHIA_ENOMEM: return "out of memory";
    case PYTHIA_EINVAL: return "invalid argument";
    case PYTHIA_EIO: return "input or output failed";
    case PYTHIA_EFORMAT: return "damaged or foreign data";
    case PYTHIA_EVERSION: return "data of an unknown version";
    case PYTHIA_ELIMIT: return "limit reached";
    default: return error > 0 ? "no prediction" : "unknown error";
    }
}
