/* SPDX-License-Identifier: MIT */
/* Job files: written so that a reader sees the old file or the new one, read with suspicion. */
#include <errno.h>
#include <fcntl.h>
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
#include "file/file.h"
#include "file/open.h"

/* "path: reason"; returns PYTHIA_EIO. */
static int refuse_io(char *why, size_t size, const char *path, const char *what)
{
    job_refuse(why, size, "%s: %s: %s", path, what, strerror(errno));
    return PYTHIA_EIO;
}

/* --- Writing --- */

static int write_packed(const void *data, size_t size, const char *path, char *why, size_t why_size)
{
    struct base_replace r;
    if (base_replace_open(&r, path, false))
        return refuse_io(why, why_size, path, r.what);
    if (base_io_write(r.fd, data, size)) {
        r.what = "can't write";
        base_replace_abandon(&r);
        return refuse_io(why, why_size, path, r.what);
    }
    return base_replace_commit(&r) ? refuse_io(why, why_size, path, r.what) : 0;
}

int file_write(const struct job *j, const char *path, char *why, size_t why_size)
{
    void *data;
    size_t size = 0;
    int error = file_pack_for_file(j, &data, &size);
    if (error) {
        job_refuse(why, why_size, "%s: can't pack the job: %s", path, pythia_strerror(error));
        return error;
    }
    error = write_packed(data, size, path, why, why_size);
    free(data);
    return error;
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

static int unpack_whole(const void *data, size_t size, struct job **j, char *why, size_t why_size)
{
    int error = file_unpack(data, size, j, why, why_size);
    if (!error && (error = check_bodies(*j, why, why_size)))
        job_destroy(*j);
    return error;
}

int file_read(const char *path, struct job **j, char *why, size_t why_size)
{
    char reason[200] = "";
    BASE_OWN unsigned char *data = NULL;
    size_t size = 0;
    struct job *job = NULL;
    int error = read_file(path, &data, &size, why, why_size);
    if (error)
        return error;
    error = unpack_whole(data, size, &job, reason, sizeof reason);
    if (error)
        job_refuse(why, why_size, "%s: %s", path, reason);
    else
        *j = job;
    return error;
}

/* Where the next one begins, or the end. */
static size_t find_next(const unsigned char *data, size_t at, size_t size)
{
    const unsigned char *next = at < size ? memmem(data + at, size - at, FORMAT_MAGIC, 8) : NULL;
    return next ? (size_t)(next - data) : size;
}

/* As its header says, or all that there is. */
static size_t length_at(const unsigned char *data, size_t rest)
{
    uint64_t length = rest < FORMAT_HEADER ? rest : file_get64(data + HEADER_SIZE);
    return length < rest ? (size_t)length : rest;
}

int file_read_each(const char *path, int (*each)(struct job *j, void *context), void *context, char *why,
                   size_t why_size)
{
    char reason[200] = "none is whole";
    BASE_OWN unsigned char *data = NULL;
    size_t size = 0, next;
    int found = 0, stop = 0, error = read_file(path, &data, &size, why, why_size);
    if (error)
        return error;
    for (size_t at = find_next(data, 0, size); at < size && !stop; at = find_next(data, next, size)) {
        struct job *j = NULL;
        size_t length = length_at(data + at, size - at);
        error = unpack_whole(data + at, length, &j, reason, sizeof reason);
        next = at + (error ? 8 : length);
        found += !error;
        stop = error ? error == PYTHIA_ENOMEM : each(j, context);
    }
    if (error == PYTHIA_ENOMEM || !found)
        job_refuse(why, why_size, "%s: %s", path, reason);
    return error == PYTHIA_ENOMEM ? error : found ? 0 : PYTHIA_EFORMAT;
}
