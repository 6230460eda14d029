/* SPDX-License-Identifier: MIT */
/*
 * Pythia: an oracle for runtimes.
 *
 * Errors: functions that return int give 0 for success and a negative PYTHIA_E… for failure, which leaves the state as
 * it was; pythia_strerror() explains it. "No prediction" is an answer, a positive status of its own.
 */
#ifndef PYTHIA_H
#define PYTHIA_H

#ifdef __cplusplus
extern "C" {
#endif

#define PYTHIA_API __attribute__((visibility("default")))

enum pythia_error {
    PYTHIA_ENOMEM = -1,   /* out of memory */
    PYTHIA_EINVAL = -2,   /* an argument is out of range */
    PYTHIA_EIO = -3,      /* a file could not be read or written */
    PYTHIA_EFORMAT = -4,  /* not what it should be: damaged, truncated or foreign */
    PYTHIA_EVERSION = -5, /* made by a version that this one does not know */
    PYTHIA_ELIMIT = -6    /* a configured limit was reached */
};

/* What a status means, in one line without a full stop. The string is static. Any value is legal.
   Threads: any.  Hook-safe: yes. */
PYTHIA_API const char *pythia_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
