/* SPDX-License-Identifier: MIT */
/* What the commands share; see tool.h. */
#include "file/file.h"
#include "tools/tool.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"
#include "base/replace.h"
#include "tools/interrupt.h"
#include "tools/parts.h"

void *tool_need(void *made)
{
    if (!made) {
        tool_complain("out of memory");
        exit(TOOL_MEMORY);
    }
    return made;
}

/* This file, whatever is beside it. */
static int read_file(const char *path, struct job **job)
{
    char why[256] = "";

    if (file_read(path, job, why, sizeof why) == 0)
        return TOOL_OK;
    /* its reasons usually name the file already. */
    if (strstr(why, path))
        tool_complain("%s", why);
    else
        tool_complain("%s: %s", path, why[0] ? why : "not a readable job file");
    return TOOL_INPUT;
}

/* What is there instead of the file: the parts of a run that died. Says so, and which ranks are missing. */
static int read_parts(const char *path, const char *directory, struct job **job)
{
    BASE_OWN char *missing = NULL;
    size_t size = 0;
    int rc = parts_join(directory, job);

    if (rc != TOOL_OK)
        return rc;
    FILE *text = open_memstream(&missing, &size);
    parts_print_missing(*job, text);
    fclose(text);
    tool_complain("%s is not there: read from %s, parts of a run that died%s%s", path, directory, size ? "; " : "",
                  missing);
    return TOOL_OK;
}

static bool is_after(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* Whether a part was written after the file: those that were joined into it are older. */
static bool is_newer(const char *directory, const char *path)
{
    struct stat file, part;
    bool newer = false;
    DIR *d = opendir(directory);

    for (struct dirent *e; d && !newer && stat(path, &file) == 0 && (e = readdir(d));)
        newer = e->d_name[0] != '.' && fstatat(dirfd(d), e->d_name, &part, 0) == 0 &&
                is_after(part.st_mtim, file.st_mtim);
    if (d)
        closedir(d);
    return newer;
}

int tool_read_job(const char *path, struct job **job)
{
    char *parts;
    struct stat st;

    base_must(asprintf(&parts, "%s.parts", path) < 0);
    bool itself = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    bool left = stat(parts, &st) == 0 && S_ISDIR(st.st_mode), there = access(path, F_OK) == 0;
    int rc = itself          ? parts_join(path, job)
             : left && !there ? read_parts(path, parts, job)
                              : read_file(path, job);
    if (rc == TOOL_OK && left && there && is_newer(parts, path))
        tool_complain("%s has parts of a run that came later and died, or has not ended (pythia merge joins them)",
                      parts);
    free(parts);
    return rc;
}

int tool_job_open(struct tool_job *j, const char *path)
{
    int rc = tool_read_job(path, &j->job);

    if (rc == TOOL_OK)
        j->report = report_create(j->job);
    return rc;
}

void tool_job_close(struct tool_job *j)
{
    report_destroy(j->report);
    job_destroy(j->job);
    *j = (struct tool_job){ 0 };
}

/* --- Output --- */

enum { BEGINNING = 24 }; /* bytes that tell one kind of output from another, and from what is none */

struct output {
    FILE *file;
    const char *path;            /* NULL: standard output */
    bool force;
    char begins[BEGINNING];
    size_t began;
    struct base_replace replace;
    int error;                   /* errno of the first write that failed */
};

/* A stream of our own: stdio remembers that a write failed, not why. */
static ssize_t output_write(void *cookie, const char *data, size_t size)
{
    struct output *o = cookie;
    size_t first = size < BEGINNING - o->began ? size : BEGINNING - o->began;

    memcpy(o->begins + o->began, data, first);
    o->began += first;
    if (!o->error && base_io_write(o->replace.fd, data, size) != 0)
        o->error = errno;
    return o->error ? 0 : (ssize_t)size;
}

static int output_failed(const char *path)
{
    tool_complain("cannot write %s: %s", path, strerror(errno));
    return TOOL_OUTPUT;
}

/* What outputs of a kind begin with: what comes before the first number, or byte that is no text. */
static size_t fixed_beginning(const struct output *o)
{
    size_t n = 0;

    while (n < o->began && (o->begins[n] < '0' || o->begins[n] > '9') && (o->begins[n] >= ' ' || isspace(o->begins[n])))
        n++;
    return n ? n : o->began;
}

/* Whether the file that is there, if any, may be lost. */
static bool may_replace(const struct output *o)
{
    char there[BEGINNING];
    struct stat st;
    size_t fixed = fixed_beginning(o);
    int fd = o->force || !o->replace.name[0] ? -1 : base_io_open(o->replace.path, O_RDONLY, 0);
    bool same = fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0 ||
                (base_io_read_at(fd, there, fixed, 0) == (ssize_t)fixed && !memcmp(there, o->begins, fixed));

    if (fd >= 0)
        close(fd);
    return same;
}

int tool_keep(const char *path, const char *what)
{
    char kept[PATH_MAX];

    if (base_replace_keep(path, kept) != 0) {
        tool_complain("%s is %s, and cannot be kept under another name: %s", path, what, strerror(errno));
        return TOOL_OUTPUT;
    }
    tool_complain("%s was there and %s: it is kept as %s", path, what, kept);
    return TOOL_OK;
}

static int output_open(struct output *o, const char *path, bool force)
{
    *o = (struct output){ .file = stdout, .force = force };
    if (!path || !strcmp(path, "-"))
        return TOOL_OK;
    o->path = path;
    base_replace_sweep(path);
    if (interrupt_replace(&o->replace, path) != 0)
        return output_failed(path);
    o->file = fopencookie(o, "w", (cookie_io_functions_t){ .write = output_write });
    if (o->file)
        return TOOL_OK;
    base_replace_abandon(&o->replace);
    interrupt_forget();
    return output_failed(path);
}

/* Everything that can fail before the new name is visible. */
static int finish(struct output *o)
{
    int whole = fclose(o->file) == 0;

    if (whole && !o->error && !may_replace(o) && tool_keep(o->path, "no earlier output of this kind") != TOOL_OK)
        return TOOL_OUTPUT;
    if (whole && !o->error && base_replace_commit(&o->replace) == 0)
        return TOOL_OK;
    errno = o->error ? o->error : errno;
    return output_failed(o->path);
}

static int output_close(struct output *o)
{
    if (!o->path) /* standard output: main() looks after it */
        return TOOL_OK;
    int result = finish(o);
    if (result != TOOL_OK)
        base_replace_abandon(&o->replace);
    interrupt_forget();
    return result;
}

int tool_write(const char *path, bool force, void (*print)(void *context, FILE *out), void *context)
{
    struct output o;
    int rc = output_open(&o, path, force);

    if (rc != TOOL_OK)
        return rc;
    print(context, o.file);
    return output_close(&o);
}

struct packed {
    void *data;
    size_t size;
};

static void print_packed(void *context, FILE *out)
{
    const struct packed *p = context;

    fwrite(p->data, 1, p->size, out);
}

/* Of the same program, or nothing that can be read. */
static bool may_replace_job(const struct job *j, const char *path)
{
    struct job *there = NULL;
    char why[256];
    bool may = file_read(path, &there, why, sizeof why) != 0 || job_is_of(there, job_text(j, j->info.program));

    job_destroy(there);
    return may;
}

int tool_write_job(const struct job *j, const char *path, bool force)
{
    struct packed p = { 0 };

    if (file_pack_for_file(j, &p.data, &p.size) != 0) {
        tool_complain("%s: the job is too large for a file", path);
        return TOOL_OUTPUT;
    }
    int rc = force || may_replace_job(j, path) ? TOOL_OK : tool_keep(path, "another program's recording");
    if (rc == TOOL_OK)
        rc = tool_write(path, force, print_packed, &p);
    free(p.data);
    return rc;
}
