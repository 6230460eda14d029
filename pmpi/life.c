/* SPDX-License-Identifier: MIT */
/* MPI_Init, MPI_Finalize and the other ways to begin, pause and end. */
#include "pmpi/life.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/modules.h"
#include "base/name.h"
#include "base/options.h"
#include "base/rights.h"
#include "file/file.h"
#include "job/job.h"
#include "pmpi/apart.h"
#include "pmpi/children.h"
#include "pmpi/clocks.h"
#include "pmpi/hook.h"
#include "pmpi/plugin.h"
#include "pmpi/present.h"
#include "session/ask.h"
#include "session/end.h"
#include "session/tree.h"

enum { LIFE_HELD = 2, LIFE_READERS = 4096, /* more ranks than that do not open one file at once */
       LIFE_PIECE = 1 << 30, LIFE_ASKED = 2048,
       LIFE_VERSION = 16384 /* more than any MPI_MAX_LIBRARY_VERSION_STRING */ };

static struct {
    MPI_Comm comm; /* of those that run under Pythia; MPI_COMM_NULL: it is off on all ranks */
    MPI_Errhandler errors[LIFE_HELD]; /* the program's, while Pythia's own are returned */
    enum session_mode mode; /* of all ranks */
    uint32_t rank;
    bool open;  /* between a start on this rank and its end */
    bool alone; /* at the end there is no communicator of ours */
    bool begun; /* MPI_Init was seen */
    pid_t process; /* that started: its children have nothing to end */
    atomic_int session_process; /* that called MPI_Session_init; 0: none */
    void *from; /* place of MPI_Init, through whichever binding the program came first */
    uint64_t came, before; /* when it did; ns that Pythia took until MPI's own was called */
} life = {.comm = MPI_COMM_NULL, .errors = {MPI_ERRHANDLER_NULL, MPI_ERRHANDLER_NULL}};

/* --- Beginning --- */

#ifdef OPEN_MPI
static const char life_family[] = "Open MPI";
#else
static const char life_family[] = "MPICH";
#endif

/* Handles of another family mean nothing to this library: its wrappers must only pass on. Relatives of MPICH (Intel
   MPI, MVAPICH2, Cray MPI) share its binary interface. */
static bool life_is_family(const char *version)
{
    bool open_mpi = strstr(version, "Open MPI") != NULL || strstr(version, "Open-MPI") != NULL;
#ifdef OPEN_MPI
    return open_mpi;
#else
    return !open_mpi;
#endif
}

/* What the first rank tells the others. */
/* The linker's: of all WATCH_CALLs. */
extern const struct watch_call __start_pythia_calls[] __attribute__((visibility("hidden")));
extern const struct watch_call __stop_pythia_calls[] __attribute__((visibility("hidden")));

struct life_order {
    uint64_t mode;
    uint64_t spawned; /* number of this world, 0: the first */
    uint64_t asked; /* a hash of what it was asked for */
    uint64_t mark; /* what the reference is known by */
    uint64_t job; /* tells this run from all others */
    uint64_t size; /* of its bytes, where they are sent */
};

static int life_bcast(void *data, uint64_t size, MPI_Comm comm)
{
    int error = MPI_SUCCESS;
    for (uint64_t at = 0; at < size && error == MPI_SUCCESS; at += LIFE_PIECE) {
        int piece = (int)(size - at < LIFE_PIECE ? size - at : LIFE_PIECE);
        error = PMPI_Bcast((char *)data + at, piece, MPI_BYTE, 0, comm);
    }
    return error;
}

/* Whether all ranks have the reference from the same file; each reads it for itself, as it reads the program. */
static bool life_find(const struct life_order *order, bool first, MPI_Comm comm)
{
    int ranks = 0, found = 1;
    PMPI_Comm_size(comm, &ranks);
    if (ranks > LIFE_READERS)
        return false;
    if (!first)
        found = session_find_reference(order->mark);
    return PMPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && found;
}

/* The bytes from the first rank; on the others *packed is malloc'ed. */
static bool life_send(struct life_order *order, bool first, MPI_Comm comm, void **packed)
{
    size_t size = 0;
    const void *bytes = first ? session_reference_bytes(&size) : NULL;
    order->size = size;
    if (life_bcast(order, sizeof *order, comm) != MPI_SUCCESS)
        return false;
    int good = first ? bytes != NULL : (*packed = malloc(order->size)) != NULL;
    if (PMPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS || !good)
        return false;
    return life_bcast(first ? (void *)bytes : *packed, order->size, comm) == MPI_SUCCESS;
}

/* What this rank is asked for goes to text. */
static uint64_t life_asked(char text[LIFE_ASKED])
{
    session_asked(text, LIFE_ASKED);
    uint64_t hash = 1;
    for (const char *c = text; *c; c++)
        hash = base_hash_mix(hash ^ (unsigned char)*c);
    return hash;
}

/* Ranks that run another program may be asked for something else (mpirun … : …): the first of them says that it does
   not count. */
static void life_disagree(uint64_t asked, MPI_Comm comm)
{
    char text[LIFE_ASKED];
    int rank = 0, other;
    PMPI_Comm_rank(comm, &rank);
    int mine = other = life_asked(text) == asked ? INT_MAX : rank;
    if (PMPI_Allreduce(&mine, &other, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && other == rank)
        base_log_warn("rank %d is asked for \"%s\", rank 0 for something else: what rank 0 is asked for counts for all",
                      rank, text);
}

/* Everyone learns what the first rank chose and gets the reference: *reference is session_reference() or, malloc'ed,
   *packed. */
static struct life_order life_agree(const struct session_world *world, MPI_Comm comm, const void **reference,
                                    void **packed)
{
    struct life_order order = {.mode = SESSION_OFF};
    int mine = 0;
    PMPI_Comm_rank(comm, &mine);
    if (mine == 0) {
        order.spawned = pmpi_hook_children_number();
        session_spawned((uint32_t)order.spawned);
        order.mode = (uint64_t)session_choose(world);
        order.mark = session_reference_mark();
        char asked[LIFE_ASKED];
        order.asked = life_asked(asked);
        order.job = base_clock_system() ^ (uint64_t)getpid() << 40;
    }
    if (life_bcast(&order, sizeof order, comm) != MPI_SUCCESS)
        order.mode = SESSION_OFF;
    else
        life_disagree(order.asked, comm);
    session_spawned((uint32_t)order.spawned);
    if (order.mode != SESSION_PREDICT)
        return order;
    bool found = life_find(&order, mine == 0, comm);
    if (!found && !life_send(&order, mine == 0, comm, packed))
        order.mode = SESSION_OFF;
    *reference = found || mine == 0 ? session_reference() : *packed;
    return order;
}

/* The communicators of the program's that ours are made of, and that MPI raises errors on which belong to none. */
static const MPI_Comm life_held[LIFE_HELD] = {MPI_COMM_WORLD, MPI_COMM_SELF};

static void life_hold_errors(void)
{
    for (int i = 0; i < LIFE_HELD; i++)
        if (PMPI_Comm_get_errhandler(life_held[i], &life.errors[i]) == MPI_SUCCESS)
            PMPI_Comm_set_errhandler(life_held[i], MPI_ERRORS_RETURN);
}

static void life_give_back_errors(void)
{
    for (int i = 0; i < LIFE_HELD; i++)
        if (life.errors[i] != MPI_ERRHANDLER_NULL) {
            PMPI_Comm_set_errhandler(life_held[i], life.errors[i]);
            PMPI_Errhandler_free(&life.errors[i]);
        }
}

/* On a communicator of ours, made now if it was not at the start. */
static bool life_apart(void)
{
    if (life.comm == MPI_COMM_WORLD && !life.alone)
        life.alone = !pmpi_hook_apart(&life.comm);
    return !life.alone;
}

/* All ranks wait for each other, recorded or not. Nothing of ours is called on a communicator of the program's before
   that: it would meet what other ranks do there, who may be in no end. */
static void life_wait(void)
{
    if (life.comm != MPI_COMM_WORLD)
        PMPI_Barrier(life.comm);
    else if (!pmpi_hook_present_meet())
        (void)life_apart();
}

static void life_free_comm(void)
{
    if (life.comm != MPI_COMM_WORLD)
        PMPI_Comm_free(&life.comm);
    life.comm = MPI_COMM_NULL;
}

/* Said by the first rank whose library is not the first rank's: it can tell both. */
static void life_tell_apart(uint64_t own, MPI_Comm comm)
{
    char name[256] = "";
    uint64_t first = own;
    int rank = 0, other;
    PMPI_Comm_rank(comm, &rank);
    if (life_bcast(&first, sizeof first, comm) != MPI_SUCCESS)
        return;
    other = own == first ? INT_MAX : rank;
    if (PMPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS || other != rank)
        return;
    gethostname(name, sizeof name - 1);
    base_log_warn("rank %d, on node %s, has another version (%s) than rank 0: the program runs on unrecorded",
                  rank, name, file_language_text);
}

/* Nodes may have libraries of ours that do not understand each other. This exchange comes before all others, and stays
   as it is. */
static bool life_one_language(MPI_Comm comm)
{
    uint64_t own = file_language(), ends[2] = {own, ~own};
    if (PMPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MIN, comm) != MPI_SUCCESS)
        return false;
    if (ends[0] == ~ends[1])
        return true;
    life_tell_apart(own, comm);
    return false;
}

static void life_open(struct session_world world)
{
    const void *reference = NULL;
    void *packed = NULL;
    if (pmpi_hook_present_gather((int)world.rank, (int)world.ranks, &life.comm) != MPI_SUCCESS)
        return;
    if (!life_one_language(life.comm)) {
        life_free_comm();
        return;
    }
    struct life_order order = life_agree(&world, life.comm, &reference, &packed);
    if (order.mode == SESSION_OFF) {
        life_free_comm();
    } else {
        life.mode = (enum session_mode)order.mode;
        life.rank = world.rank;
        life.open = true;
        life.process = getpid();
        int level = MPI_THREAD_SINGLE;
        PMPI_Query_thread(&level);
        pmpi_hook_request_threads(level == MPI_THREAD_MULTIPLE);
        pmpi_hook_comm_open();
        world.job = order.job;
        bool started = session_start(&world, reference, order.size) != SESSION_OFF;
        watch_board_mpi(MPI_ANY_SOURCE, MPI_PROC_NULL, __start_pythia_calls,
                        (size_t)(__stop_pythia_calls - __start_pythia_calls));
        if (life.mode == SESSION_RECORD)
            pmpi_hook_clocks_begin(life.comm);
        if (started)
            pmpi_hook_plugins_open(session_plugins(), world.rank);
        atomic_store_explicit(&pmpi_hook_kinds, started ? session_records() : 0, memory_order_release);
        pmpi_hook_comm_anew();
    }
    free(packed);
}

static void life_begin(void)
{
    static char version[LIFE_VERSION];
    int length = 0, rank = 0, ranks = 1;
    if (base_rights_raised())
        return;
    session_give_way();
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    if (!life_is_family(version)) {
        pmpi_hook_present_close();
        session_tree_said();
        if (base_log_is_first_rank())
            base_log_warn("made for %s, the program uses %.60s: the program runs on unrecorded", life_family, version);
        return;
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct session_world world = {.rank = (uint32_t)rank, .ranks = (uint32_t)ranks, .mpi = version};
    life_hold_errors();
    life_open(world);
    life_give_back_errors();
}

/* Where a run begins, `took` ns ago, and ends. To end, all ranks wait for each other, recorded or not. */
static void life_event(const struct watch_call *info, void *from, uint64_t took, bool wait)
{
    struct pmpi_hook_call call;
    bool recorded = pmpi_hook_open(&call, info);
    if (recorded) {
        pmpi_hook_on_comm(&call, MPI_COMM_WORLD);
        if (took) /* what Pythia did since is cut out: the program would not have waited for it */
            session_begins(call.stream);
        pmpi_hook_begin(&call, from, 0);
        if (took)
            session_began(call.stream, took);
        call.begin -= took;
    }
    if (wait)
        life_wait();
    if (recorded) {
        pmpi_hook_returned(&call, true);
        pmpi_hook_end(&call);
        if (took && watch_board_here) /* starting is no pause of the program's, however long it took */
            watch_board_here->longest = 0;
    }
}

void pmpi_hook_life_begun(bool threads)
{
    WATCH_CALL single = {"MPI_Init", {.call_kind = JOB_LIFE}};
    WATCH_CALL threaded = {"MPI_Init_thread", {.call_kind = JOB_LIFE}};
    if (life.begun)
        return;
    life.begun = true;
    int error = errno;
    uint64_t now = base_clock_now(), took = now - life.came - life.before;
    base_fpu_t kept = base_fpu_hold();
    life_begin();
    base_fpu_give_back(kept);
    life_event(threads ? &threaded : &single, life.from, took, false);
    session_took_start(base_clock_now() - now + life.before);
    errno = error;
}

void pmpi_hook_life_comes(void *from)
{
    if (life.from)
        return;
    life.from = from;
    life.came = base_clock_now();
    uint64_t shared = pmpi_hook_present_announce();
    life.before = base_clock_now() - life.came - shared;
}

PYTHIA_API int MPI_Init(int *argc, char ***argv)
{
    pmpi_hook_life_comes(__builtin_return_address(0));
    int result = PMPI_Init(argc, argv);
    if (result == MPI_SUCCESS)
        pmpi_hook_life_begun(false);
    return result;
}

PYTHIA_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    pmpi_hook_life_comes(__builtin_return_address(0));
    int result = PMPI_Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS)
        pmpi_hook_life_begun(true);
    return result;
}

/* --- Ending --- */

/* Without MPI. */
static void life_keep_part(struct job *mine)
{
    if (life.mode == SESSION_RECORD)
        pmpi_hook_write_part(life.rank, mine);
    else
        job_destroy(mine);
}

static void life_end(void)
{
    atomic_store_explicit(&pmpi_hook_kinds, 0, memory_order_release);
    pmpi_hook_comm_anew();
    pmpi_hook_plugins_close();
    bool apart = life_apart();
    if (apart && life.mode == SESSION_RECORD)
        pmpi_hook_clocks_end(life.comm);
    struct job *mine = session_finish();
    life.open = false;
    if (apart)
        pmpi_hook_finish(life.comm, life.mode, mine);
    else
        life_keep_part(mine);
    pmpi_hook_comm_close();
    life_free_comm();
}

void pmpi_hook_life_ends(void *from)
{
    WATCH_CALL info = {"MPI_Finalize", {.call_kind = JOB_LIFE, .blocking = true}};
    if (life.comm != MPI_COMM_NULL) {
        int error = errno;
        base_fpu_t kept = base_fpu_hold();
        session_pause(false);
        life_hold_errors();
        life_event(&info, from, 0, true);
        session_took_ends();
        life_end();
        life_give_back_errors();
        base_fpu_give_back(kept);
        errno = error;
    }
}

void pmpi_hook_life_ended(void)
{
    int error = errno;
    session_summary_wait();
    errno = error;
}

PYTHIA_API int MPI_Finalize(void)
{
    pmpi_hook_life_ends(__builtin_return_address(0));
    int result = PMPI_Finalize();
    pmpi_hook_life_ended();
    return result;
}

/* This rank alone, without MPI: others may be gone, or stuck. */
static void life_rescue(void)
{
    if (!life.open || getpid() != life.process)
        return;
    life.open = false;
    atomic_store_explicit(&pmpi_hook_kinds, 0, memory_order_release);
    pmpi_hook_comm_anew();
    pmpi_hook_plugins_close();
    life_keep_part(session_finish());
}

void pmpi_hook_life_aborts(void *from)
{
    WATCH_CALL info = {"MPI_Abort", {.call_kind = JOB_LIFE}};
    if (life.open) {
        int error = errno;
        base_fpu_t kept = base_fpu_hold();
        life_event(&info, from, 0, false);
        life_rescue();
        base_fpu_give_back(kept);
        errno = error;
    }
}

PYTHIA_API int MPI_Abort(MPI_Comm comm, int errorcode)
{
    pmpi_hook_life_aborts(__builtin_return_address(0));
    return PMPI_Abort(comm, errorcode);
}

/* MPI itself ends the program: it failed, and nobody handles errors. Open MPI exits with the error's number. */
static void life_say_error(int status, const void *from)
{
    const struct watch_board *b = base_here.board;
    bool inside = b && atomic_load_explicit(&b->since, memory_order_relaxed) & 1 && !(b->call & WATCH_OF_REGION);
    char text[MPI_MAX_ERROR_STRING + 2] = ": ";
    int length = 0;
    struct base_module caller;
    uint64_t offset;
    uint32_t module = from ? base_modules_find(from, &offset) : BASE_MODULE_NONE;
    static const char *const names[] = { "libmpi", "libmpich", "libopen-", "libpmix", "mca_" };
    if (module == BASE_MODULE_NONE || base_modules_get(module, &caller) ||
        !base_name_begins(caller.path, names, sizeof names / sizeof *names))
        return;
    if (status <= MPI_SUCCESS || status >= MPI_ERR_LASTCODE || PMPI_Error_string(status, text + 2, &length))
        text[0] = '\0';
    base_log_warn("rank %u: %s failed, and MPI ends the program with error %d%s", life.rank,
                  inside ? ((const struct watch_call *)(uintptr_t)b->call)->function : "an MPI call", status, text);
}

static void life_ends(int status, const void *from)
{
    if (life.open && getpid() == life.process) {
        life_say_error(status, from);
        life_rescue();
    }
}

static __attribute__((constructor)) void life_load(void)
{
    session_at_end(life_ends);
}

/* --- MPI sessions --- */

void pmpi_hook_life_session(void)
{
    atomic_store_explicit(&life.session_process, (int)getpid(), memory_order_relaxed);
}

#ifdef MPI_SESSION_NULL /* Open MPI 5 has sessions and is still MPI 3.1 */
PYTHIA_API int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    pmpi_hook_life_session();
    return PMPI_Session_init(info, errhandler, session);
}
#endif

static void life_sessions_only(void)
{
    struct pythia_options options;
    if (life.begun || atomic_load_explicit(&life.session_process, memory_order_relaxed) != (int)getpid())
        return;
    base_options_load(&options);
    if (!strcmp(options.mode, "off") || base_rights_raised())
        return;
    session_tree_said();
    if (base_log_is_first_rank())
        base_log_warn("nothing was recorded: the program uses MPI sessions alone; what calls MPI_Init can be recorded");
}

/* Exit without MPI_Finalize. */
__attribute__((destructor)) static void life_exit(void)
{
    base_fpu_t kept = base_fpu_hold();
    life_rescue();
    session_summary_wait(); /* the program ended inside MPI_Finalize */
    life_sessions_only();
    base_fpu_give_back(kept);
}

/* --- MPI_Pcontrol --- */

/* By convention: 0 off, 1 on, 2 anew, 3 and 4 say what there is. Calls and parallel regions alike;
   other levels mean nothing. */
void pmpi_hook_life_control(int level)
{
    if (!life.open)
        return;
    int error = errno;
    base_fpu_t kept = base_fpu_hold();
    if (level == 0 || level == 1)
        session_pause(level == 0);
    else if (level == 2)
        session_reset();
    else if (level == 3 || level == 4)
        session_dump();
    base_fpu_give_back(kept);
    errno = error;
}

PYTHIA_API int MPI_Pcontrol(const int level, ...)
{
    pmpi_hook_life_control(level);
    return PMPI_Pcontrol(level);
}
