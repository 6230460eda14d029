/* SPDX-License-Identifier: MIT */
/* What the commands share; see tool.h. */
#include "file/file.h"
#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia.h"
#include "base/io.h"
#include "tools/interrupt.h"
#include "tools/progress.h"

void tool_complain(const char *format, ...)
{
    char line[1024];
    struct base_io_hush h;
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *c = line; *c; c++)
        if (*c == '\n' || *c == '\r') /* a name in the message must not make two lines of it */
            *c = ' ';
    progress_hide();
    base_io_hush(&h); /* of record and predict: standard error may be full, or closed */
    fprintf(stderr, "pythia: %s\n", line);
    base_io_unhush(&h);
}

int tool_number(const char *text, uint64_t max, uint64_t *value)
{
    uint64_t n = 0;

    if (!*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        uint64_t digit = (uint64_t)(*text - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return -1;
        n = n * 10 + digit;
    }
    if (n > max)
        return -1;
    *value = n;
    return 0;
}

error_t tool_job_argument(int key, char *arg, struct argp_state *state, const char **job)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (*job)
            argp_error(state, "one job file only");
        *job = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no job file");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int tool_read_job(const char *path, struct job **job)
{
    char why[256] = "";
    int rc = file_read(path, job, why, sizeof why);

    if (rc == 0 || rc == PYTHIA_ENOMEM) /* not the file's fault */
        return rc == 0 ? TOOL_OK : TOOL_MEMORY;
    /* file_read's reasons usually name the file already. */
    if (strstr(why, path))
        tool_complain("%s", why);
    else
        tool_complain("%s: %s", path, why[0] ? why : "not a readable job file");
    return TOOL_INPUT;
}

int tool_job_open(struct tool_job *j, const char *path)
{
    int rc = tool_read_job(path, &j->job);

    if (rc != TOOL_OK)
        return rc;
    j->report = report_create(j->job);
    if (j->report)
        return TOOL_OK;
    tool_job_close(j);
    return TOOL_MEMORY;
}

void tool_job_close(struct tool_job *j)
{
    report_destroy(j->report);
    job_destroy(j->job);
    *j = (struct tool_job){ 0 };
}

/* --- Output --- */

struct output {
    FILE *file;
    char *path;      /* NULL: standard output */
    char *temporary; /* NULL: written directly */
};

/* Whether `path` exists and is something that a rename must not replace. */
static int is_special(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int open_temporary(struct output *o)
{
    size_t size = strlen(o->path) + sizeof ".XXXXXX";
    int fd;

    o->temporary = malloc(size);
    if (!o->temporary)
        return -1;
    snprintf(o->temporary, size, "%s.XXXXXX", o->path);
    fd = interrupt_mkstemp(o->temporary);
    if (fd < 0)
        return -1;
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(fd, 0666 & ~mask); /* what fopen would have given */
    o->file = fdopen(fd, "w");
    if (o->file)
        return 0;
    close(fd);
    unlink(o->temporary);
    return -1;
}

static void forget(struct output *o)
{
    interrupt_forget();
    free(o->path);
    free(o->temporary);
    memset(o, 0, sizeof *o);
}

static int output_open(struct output *o, const char *path)
{
    memset(o, 0, sizeof *o);
    if (!path || !strcmp(path, "-")) {
        o->file = stdout;
        return TOOL_OK;
    }
    o->path = strdup(path);
    if (o->path) {
        if (is_special(path))
            o->file = fopen(path, "w");
        else if (open_temporary(o) != 0)
            o->file = NULL;
    }
    if (o->file)
        return TOOL_OK;
    tool_complain("cannot write %s: %s", path, strerror(errno));
    forget(o);
    return TOOL_OUTPUT;
}

/* So that the new name lasts. Best effort: the file is whole and in place. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

/* Everything that can fail before the new name is visible. */
static int finish(struct output *o)
{
    int failed = ferror(o->file) | fflush(o->file);
    int error = errno;

    if (!failed && o->temporary && fsync(fileno(o->file)) != 0) {
        failed = 1;
        error = errno;
    }
    if (fclose(o->file) != 0 && !failed) {
        failed = 1;
        error = errno;
    }
    if (!failed && o->temporary && rename(o->temporary, o->path) != 0) {
        failed = 1;
        error = errno;
    }
    if (!failed && o->temporary)
        sync_directory(o->path);
    errno = error;
    return failed;
}

/* `keep` 0: the output is given up, the old file stays. */
static int output_close(struct output *o, int keep)
{
    int result = TOOL_OK;

    if (!o->path) /* standard output: main() looks after it */
        return TOOL_OK;
    if (!keep)
        fclose(o->file);
    else if (finish(o)) {
        tool_complain("cannot write %s: %s", o->path, strerror(errno));
        result = TOOL_OUTPUT;
    }
    if (o->temporary && (!keep || result != TOOL_OK))
        unlink(o->temporary);
    forget(o);
    return result;
}

int tool_write(const char *path, int (*print)(void *context, FILE *out), void *context)
{
    struct output o;
    int rc = output_open(&o, path);

    if (rc != TOOL_OK)
        return rc;
    int whole = print(context, o.file) != PYTHIA_ENOMEM;
    rc = output_close(&o, whole);
    return whole ? rc : TOOL_MEMORY;
}

struct packed {
    void *data;
    size_t size;
};

static int print_packed(void *context, FILE *out)
{
    const struct packed *p = context;

    fwrite(p->data, 1, p->size, out);
    return 0;
}

int tool_write_job(const struct job *j, const char *path)
{
    struct packed p = { 0 };
    int rc = file_pack(j, NULL, &p.data, &p.size) == 0 ? tool_write(path, print_packed, &p) : TOOL_MEMORY;

    free(p.data);
    return rc;
}
