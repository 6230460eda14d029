/* SPDX-License-Identifier: MIT */
/*
 * Example of a plugin: a table of the calls as they happen, a line before and a line after each.
 *
 *   cc -shared -fPIC -o trace.so trace.c $(pkg-config --cflags pythia)
 *   PYTHIA_PLUGIN=./trace.so mpirun -n 4 pythia record -- ./app         writes pythia-trace.RANK.tsv, one a rank
 *
 *   PYTHIA_TRACE_OUTPUT   another beginning than "pythia-trace", or "-" for stderr
 *   PYTHIA_TRACE_CALLS    functions and classes, with commas ("p2p,MPI_Barrier"); default all
 *
 *   id     thread  call       cs  key  dest  count  size  time    comm
 *   17     0       MPI_Isend  3   PRE  1     100    8     41632   world        time in ns: the CPU burst before the call
 *   17     0       MPI_Isend  3   POS  1     100    8     520     world        the call itself
 *
 * Lines are gathered and written in large pieces by write(2) and not by stdio: a file that may not become larger, or a
 * reader that is gone, sends a signal that would end the program. It is put off and taken back; the table ends there.
 */
#include <pythia.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 64 * 1024, LONGEST = 4096, HIGH = 100 /* small descriptors are the program's */ };

static struct {
    pthread_mutex_t lock;
    int fd; /* -1: nothing is traced, or no more */
    size_t used;
    char text[PIECE + LONGEST];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static uint32_t rank;

/* --- Writing --- */

static int write_all(int fd, const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = write(fd, text + at, size - at);
        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* The signals that a write may send come to the thread that writes: here they wait, and those of this write go. */
static int write_quietly(int fd, const char *text, size_t size)
{
    static const struct timespec now = {0};
    static const int sent[] = {SIGPIPE, SIGXFSZ};
    sigset_t both, mask, earlier, one;
    int cancel, result, error;
    sigemptyset(&both);
    sigaddset(&both, SIGPIPE);
    sigaddset(&both, SIGXFSZ);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    sigpending(&earlier);
    pthread_sigmask(SIG_BLOCK, &both, &mask);
    result = write_all(fd, text, size);
    error = errno;
    for (int i = 0; i < 2 && result; i++) {
        sigemptyset(&one);
        sigaddset(&one, sent[i]);
        if (!sigismember(&earlier, sent[i]))
            sigtimedwait(&one, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    pthread_setcancelstate(cancel, NULL);
    errno = error;
    return result;
}

static void say(const char *text)
{
    (void)write_quietly(STDERR_FILENO, text, strlen(text));
}

/* Under the lock. */
static void flush(void)
{
    char text[256];
    if (table.fd >= 0 && write_quietly(table.fd, table.text, table.used)) {
        snprintf(text, sizeof text, "pythia: trace: %s; the table of rank %" PRIu32 " ends there\n", strerror(errno),
                 rank);
        say(text);
        table.fd = -1;
    }
    table.used = 0;
}

/* A line that is longer than LONGEST is cut. */
static void put(const char *line, int length)
{
    if (length < 0)
        return;
    size_t size = length < LONGEST ? (size_t)length : LONGEST - 1;
    pthread_mutex_lock(&table.lock);
    memcpy(table.text + table.used, line, size);
    table.used += size;
    if (table.used >= PIECE || table.fd == STDERR_FILENO)
        flush();
    pthread_mutex_unlock(&table.lock);
}

/* --- The table --- */

static int open_file(const char *path)
{
    int low = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int high = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, HIGH) : -1;
    if (high >= 0)
        close(low);
    return high >= 0 ? high : low;
}

static void open_table(void)
{
    static const char head[] = "#id\tthread\tcall\tcs\tkey\tdest\tcount\tsize\ttime\tcomm\n";
    const char *output = getenv("PYTHIA_TRACE_OUTPUT");
    char path[4096], text[4400];
    if (output && strcmp(output, "-") == 0) {
        table.fd = STDERR_FILENO;
    } else {
        snprintf(path, sizeof path, "%s.%" PRIu32 ".tsv", output && *output ? output : "pythia-trace", rank);
        table.fd = open_file(path);
        if (table.fd < 0) {
            snprintf(text, sizeof text, "pythia: trace: %s: %s; nothing is traced on rank %" PRIu32 "\n", path,
                     strerror(errno), rank);
            say(text);
        }
    }
    if (table.fd >= 0)
        put(head, sizeof head - 1);
}

static const char *peer_text(int64_t peer, char text[24])
{
    if (peer == PYTHIA_PEER_ANY)
        return "ANY";
    if (peer == PYTHIA_PEER_NULL)
        return "NULL";
    if (peer == PYTHIA_PEER_NONE)
        return "-";
    snprintf(text, 24, "%" PRId64, peer);
    return text;
}

static void show(const struct pythia_record *r, void *data)
{
    char peer[24], line[LONGEST];
    (void)data;
    if (r->phase == PYTHIA_POST && !r->happened)
        return; /* a poll that found nothing */
    pthread_once(&opened, open_table);
    if (table.fd >= 0)
        put(line, snprintf(line, sizeof line,
                           "%" PRIu64 "\t%" PRIu32 "\t%s\t%" PRIu32 "\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRIu64
                           "\t%s\n", r->id, r->thread, r->call, r->callsite, r->phase == PYTHIA_PRE ? "PRE" : "POS",
                           peer_text(r->peer, peer), r->count, r->element_size, r->elapsed_ns,
                           *r->communicator ? r->communicator : "-"));
}

int pythia_plugin_open(uint32_t version, uint32_t own_rank)
{
    const char *list = getenv("PYTHIA_TRACE_CALLS");
    char *calls = strdup(list && *list ? list : "all"), *rest = calls;
    int used = 0;
    if (version != PYTHIA_PLUGIN_VERSION || !calls) {
        free(calls);
        return 1;
    }
    rank = own_rank;
    for (char *what; (what = strsep(&rest, ","));) {
        int error = pythia_callback_register(what, PYTHIA_PRE | PYTHIA_POST, show, NULL);
        if (error && own_rank == 0)
            fprintf(stderr, "pythia: trace: PYTHIA_TRACE_CALLS: '%s' is no MPI call and no kind of calls\n", what);
        used += error == 0;
    }
    free(calls);
    return used ? 0 : 2;
}

void pythia_plugin_close(void)
{
    pthread_mutex_lock(&table.lock);
    flush();
    pthread_mutex_unlock(&table.lock);
}
