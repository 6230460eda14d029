/* SPDX-License-Identifier: MIT */
/* Job files: written so that a reader sees the old file or the new one, read with suspicion. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "config.h"
#include "pythia.h"
#include "base/io.h"
#include "base/replace.h"
#include "job/check.h"
#include "file/container.h"
#include "file/file.h"
#include "file/open.h"

/* "path: reason"; returns PYTHIA_EIO. */
static int refuse_io(char *why, size_t size, const char *path, const char *what)
{
    job_refuse(why, size, "%s: %s: %s", path, what, strerror(errno));
    return PYTHIA_EIO;
}

/* --- Writing --- */

static int write_packed(const void *data, size_t size, const char *path, bool at_once, char *why, size_t why_size)
{
    struct base_replace r;
    if (base_replace_open(&r, path, false))
        return refuse_io(why, why_size, path, r.what);
    r.at_once = at_once;
    if (base_io_write(r.fd, data, size)) {
        r.what = "can't write";
        base_replace_abandon(&r);
        return refuse_io(why, why_size, path, r.what);
    }
    return base_replace_commit(&r) ? refuse_io(why, why_size, path, r.what) : 0;
}

static int write_job(const struct job *j, const char *path, bool at_once, char *why, size_t why_size)
{
    void *data;
    size_t size = 0;
    int error = file_pack_for_file(j, &data, &size);
    if (error) {
        job_refuse(why, why_size, "%s: can't pack the job: %s", path, pythia_strerror(error));
        return error;
    }
    error = write_packed(data, size, path, at_once, why, why_size);
    free(data);
    return error;
}

int file_write(const struct job *j, const char *path, char *why, size_t why_size)
{
    return write_job(j, path, false, why, why_size);
}

int file_write_at_once(const struct job *j, const char *path, char *why, size_t why_size)
{
    return write_job(j, path, true, why, why_size);
}

/* --- Reading --- */

int file_open_regular(const char *path, int *file, uint64_t *size, char *why, size_t why_size)
{
    struct stat st;
    int error = 0, fd = base_io_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return refuse_io(why, why_size, path, "can't open");
    if (fstat(fd, &st))
        error = refuse_io(why, why_size, path, "can't read");
    else if (!S_ISREG(st.st_mode))
        error = job_refuse(why, why_size, "%s: not a regular file", path);
    if (error) {
        close(fd);
        return error;
    }
    *file = fd;
    *size = (uint64_t)st.st_size;
    return 0;
}

/* The whole of a regular file; *data is malloc'ed. Read, not mapped: a mapped file that somebody truncates is a
   crash. */
static int read_file(const char *path, unsigned char **data, size_t *size, char *why, size_t why_size)
{
    uint64_t length = 0;
    int fd, error = file_open_regular(path, &fd, &length, why, why_size);
    if (error)
        return error;
    unsigned char *bytes = malloc((size_t)length + 1);
    if (!bytes) {
        job_refuse(why, why_size, "%s: out of memory for %llu bytes", path, (unsigned long long)length);
        error = PYTHIA_ENOMEM;
    }
    if (!error) {
        errno = EIO; /* it shrinks while it is read */
        if (base_io_read(fd, bytes, (size_t)length) != (ssize_t)length)
            error = refuse_io(why, why_size, path, "can't read");
    }
    close(fd);
    if (error) {
        free(bytes);
        return error;
    }
    *data = bytes;
    *size = (size_t)length;
    return 0;
}

const char file_language_text[] = "Pythia " PACKAGE_VERSION;

uint64_t file_language(void)
{
    return XXH64(file_language_text, strlen(file_language_text), FORMAT_VERSION);
}

/* Whether all bodies are there: in a message they may be left out, in a file never. */
static int check_bodies(const struct job *j, char *why, size_t size)
{
    for (uint32_t i = 0; i < j->class_count; i++)
        if (!j->classes[i].grammar->rule_count)
            return job_refuse(why, size, "class %u: its rules were left out", i);
    return 0;
}

int file_read(const char *path, struct job **j, char *why, size_t why_size)
{
    char reason[200] = "";
    unsigned char *data = NULL;
    size_t size = 0;
    struct job *job = NULL;
    int error = read_file(path, &data, &size, why, why_size);
    if (error)
        return error;
    error = file_unpack(data, size, &job, reason, sizeof reason);
    if (!error && (error = check_bodies(job, reason, sizeof reason)))
        job_destroy(job);
    free(data);
    if (error)
        job_refuse(why, why_size, "%s: %s", path, reason);
    else
        *j = job;
    return error;
}
