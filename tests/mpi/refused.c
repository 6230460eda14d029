/* SPDX-License-Identifier: MIT */
/*
 * Every wrapped call on one rank, right and with each of its arguments wrong (tests/mpi/refused.awk): what it returns
 * and how often error handlers were called, a line each. Where MPI crashes or waits for ever a signal handler jumps out
 * of the call, so that one process does nearly all: one where MPI ends the process has a line without an end, and the
 * next process begins after it.
 *
 *   refused FIRST FILE      cases from that number on, to the file (a launcher may mix up the output of who dies); the
 *                           last line is "done"
 *
 * What MPI makes of memory that nobody has written is left to chance: REFUSED_GARBAGE says with what the stack below
 * each call is filled.
 * With REFUSED_WATCH in the environment callbacks watch all calls, and stderr has a line for each call that they did
 * not see.
 */
#define PYTHIA_OPTIONAL
#include <pythia.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "pmpi/all_of_mpi.h"

#ifdef OPEN_MPI
#define REFUSED_BAD(type) ((type)0)
#else
#define REFUSED_BAD(type) ((type)(sizeof(type) == sizeof(int) ? 0x12345 : 0))
#endif

struct refused_call {
    const char *name;
    int (*call)(int wrong);
    int reaches;                /* beyond the process, if nothing is wrong */
    const char *const *wrongs;  /* what is wrong: by number, 0 for nothing */
};

static char refused_room[32][4096];
static void *refused_pointer;
static MPI_Comm refused_comm;
static MPI_Win refused_win;
static MPI_File refused_file;
static MPI_Group refused_group;

static int calls_comm, calls_win, calls_file;
static void on_comm(MPI_Comm *comm, int *error, ...) { calls_comm++; (void)comm; (void)error; }
static void on_win(MPI_Win *win, int *error, ...) { calls_win++; (void)win; (void)error; }
static void on_file(MPI_File *file, int *error, ...) { calls_file++; (void)file; (void)error; }

__attribute__((unused)) static MPI_Request refused_request(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Send_init(refused_room[31], 1, MPI_INT, MPI_PROC_NULL, 0, refused_comm, &request);
    return request;
}

__attribute__((unused)) static MPI_Comm refused_fresh(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    PMPI_Comm_dup(refused_comm, &comm);
    return comm;
}

__attribute__((unused)) static MPI_Win refused_fresh_win(void)
{
    MPI_Win win = MPI_WIN_NULL;
    PMPI_Win_create(refused_room[30], 64, 1, MPI_INFO_NULL, refused_comm, &win);
    return win;
}

__attribute__((unused)) static MPI_File refused_fresh_file(void)
{
    MPI_File file = MPI_FILE_NULL;
    PMPI_File_open(MPI_COMM_SELF, "refused.fresh", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                   MPI_INFO_NULL, &file);
    return file;
}

#include "refused_calls.c"

static sigjmp_buf out;
static int watches, garbage;
static volatile int seen;

static void see(const struct pythia_record *record, void *data)
{
    (void)data;
    seen += record->phase == PYTHIA_PRE;
}

static void leave(int number)
{
    siglongjmp(out, number);
}

static void catch(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = leave;
    sigaction(number, &action, NULL);
}

static void open_window(void)
{
    MPI_Errhandler win;
    MPI_Win_create(refused_room[29], 64, 1, MPI_INFO_NULL, refused_comm, &refused_win);
    PMPI_Win_create_errhandler(on_win, &win);
    PMPI_Win_set_errhandler(refused_win, win);
}

static int takes_window(const struct refused_call *call)
{
    int wrong = 0;
    while (call->wrongs[wrong] && strncmp(call->wrongs[wrong], "win ", 4) != 0)
        wrong++;
    return call->wrongs[wrong] != NULL;
}

static void open_all(void)
{
    MPI_Errhandler comm, file;
    int one = 1, no = 0;
    PMPI_Comm_create_errhandler(on_comm, &comm);
    PMPI_File_create_errhandler(on_file, &file);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, comm);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, comm);
    PMPI_File_set_errhandler(MPI_FILE_NULL, file);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &no, 0, &refused_comm);
    PMPI_Comm_set_errhandler(refused_comm, comm);
    open_window();
    MPI_File_open(MPI_COMM_SELF, "refused.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &refused_file);
    PMPI_File_set_errhandler(refused_file, file);
    PMPI_Comm_group(MPI_COMM_WORLD, &refused_group);
}

static __attribute__((noinline)) void leave_garbage(int byte)
{
    volatile char room[32 << 10];
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = (char)byte;
}

/* Who waits spins, or sleeps for long. On a busy machine any call may last a second, and must not be jumped out of. */
static void alarm_after(int on)
{
    struct itimerval spins = {.it_value = {.tv_usec = on ? 500000 : 0}};
    setitimer(ITIMER_PROF, &spins, NULL);
    alarm(on ? 30 : 0);
}

/* Who dies inside of malloc leaves it locked: the next process goes on. */
static void end_without_malloc(void)
{
    if (sigsetjmp(out, 1))
        _exit(0);
    alarm(2);
    for (size_t size = 16; size < 1 << 16; size *= 2) {
        void *volatile block = malloc(size);
        free(block);
    }
    alarm(0);
}

static void try(const struct refused_call *call, int wrong)
{
    volatile int class = 0;
    printf("%s, %s:", call->name, call->wrongs[wrong]);
    fflush(stdout);
    calls_comm = calls_win = calls_file = seen = 0;
    int number = sigsetjmp(out, 1);
    if (number == 0) {
        leave_garbage(garbage);
        alarm_after(1);
        int result = call->call(wrong);
        alarm_after(0);
        int found = 0;
        if (result > 0)
            PMPI_Error_class(result, &found);
        class = result < 0 ? result : found;
    }
    alarm_after(0);
    if (number)
        printf(" %s\n", number == SIGALRM || number == SIGPROF ? "waits" : "crashes");
    else
        printf(" class %d, handlers %d %d %d\n", class, calls_comm, calls_win, calls_file);
    fflush(stdout);
    if (watches && seen != 1)
        fprintf(stderr, "not seen: %s, %s\n", call->name, call->wrongs[wrong]);
    if (number)
        end_without_malloc();
    if (number && takes_window(call)) /* what is half done there is to be met by none of the next calls */
        open_window();
}

int main(int argc, char **argv)
{
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGPROF};
    int first = argc > 2 ? atoi(argv[1]) : 0, number = 0;
    if (argc < 3 || !freopen(argv[2], "w", stdout))
        return 2;
    MPI_Init(&argc, &argv);
    open_all();
    garbage = getenv("REFUSED_GARBAGE") ? atoi(getenv("REFUSED_GARBAGE")) : 0;
    watches = getenv("REFUSED_WATCH") && pythia_callback_register &&
              !pythia_callback_register("all", PYTHIA_PRE, see, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        catch(signals[i]);
    for (size_t i = 0; i < sizeof refused_calls / sizeof *refused_calls; i++)
        for (int wrong = refused_calls[i].reaches; refused_calls[i].wrongs[wrong]; wrong++)
            if (number++ >= first)
                try(&refused_calls[i], wrong);
    puts("done");
    fflush(stdout);
    _exit(0); /* what was left half done may not be finalised */
}
