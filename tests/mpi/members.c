/* SPDX-License-Identifier: MIT */
/*
 * Communicators of each kind, alive together, some of which leave ranks out: `members KIND...`, on six ranks. All
 * members of each send around and reduce; rank 3 naps before that.
 */
#include <string.h>
#include <time.h>

#include <mpi.h>

enum { TURNS = 6, MOST = 8 };

static int rank, size, made;
static MPI_Comm comm[MOST];

static void keep(MPI_Comm one)
{
    comm[made++] = one;
}

#if MPI_VERSION >= 4
static MPI_Session session = MPI_SESSION_NULL;
#endif

static void use(MPI_Comm on)
{
    struct timespec t = { 0, rank == 3 ? 12000000 : 100000 };
    int me, n, in = 0, sum, inter;
    if (on == MPI_COMM_NULL)
        return;
    nanosleep(&t, NULL);
    MPI_Comm_test_inter(on, &inter);
    MPI_Comm_rank(on, &me);
    MPI_Comm_size(on, &n);
    if (!inter && n <= size) /* whom messages to another world are for its job does not say */
        MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 1, &in, 1, MPI_INT, (me + n - 1) % n, 1, on, MPI_STATUS_IGNORE);
    else if (inter)
        MPI_Sendrecv(&me, 1, MPI_INT, me, 1, &in, 1, MPI_INT, me, 1, on, MPI_STATUS_IGNORE);
    if (!inter)
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, on);
}

static MPI_Group group_of(int first, int last, int stride)
{
    int range[1][3] = { { first, last, stride } };
    MPI_Group all, some;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, range, &some);
    MPI_Group_free(&all);
    return some;
}

/* Leaders, then pairs, then all but the first rank, then pairs that overlap the others. */
static void split(void)
{
    const int colour[] = { rank % 2 ? MPI_UNDEFINED : 0, rank / 2, rank ? 0 : MPI_UNDEFINED, (rank + 1) / 2 };
    for (int i = 0; i < 4; i++) {
        MPI_Comm c;
        MPI_Comm_split(MPI_COMM_WORLD, colour[i], rank, &c);
        keep(c);
    }
}

static void create(void)
{
    for (int i = 0; i < 2; i++) {
        MPI_Group g = i ? group_of(rank / 3 * 3, rank / 3 * 3 + 2, 1) : group_of(1, size - 1, 2);
        MPI_Comm c;
        MPI_Comm_create(MPI_COMM_WORLD, g, &c);
        keep(c);
        MPI_Group_free(&g);
    }
}

static void create_group(void)
{
    MPI_Group g = group_of(2, size - 1, 1);
    MPI_Comm c = MPI_COMM_NULL;
    if (rank >= 2)
        MPI_Comm_create_group(MPI_COMM_WORLD, g, 5, &c);
    keep(c);
    MPI_Group_free(&g);
}

static void split_type(void)
{
    MPI_Comm c;
    MPI_Comm_split_type(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &c);
    keep(c);
}

static void dup(void)
{
    MPI_Comm c;
    MPI_Request q;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    keep(c);
    MPI_Comm_idup(MPI_COMM_WORLD, &c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    keep(c);
}

/* Of four ranks: the others are left out. */
static void cart(void)
{
    const int dims[2] = { 2, 2 }, none[2] = { 0, 0 }, row[2] = { 0, 1 }, column[2] = { 1, 0 };
    MPI_Comm grid, c;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, none, 0, &grid);
    keep(grid);
    for (int i = 0; grid != MPI_COMM_NULL && i < 2; i++) {
        MPI_Cart_sub(grid, i ? column : row, &c);
        keep(c);
    }
}

/* The parents of both halves have other names. */
static void inter(void)
{
    MPI_Comm half, copy, between, all;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
    if (rank >= size / 2) {
        MPI_Comm_dup(half, &copy);
        MPI_Comm_free(&half);
        half = copy;
    }
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < size / 2 ? size / 2 : 0, 7, &between);
    MPI_Intercomm_merge(between, rank < size / 2, &all);
    keep(half);
    keep(between);
    keep(all);
}

/* With each neighbour: the first one that a rank makes is its neighbour's second one. */
static void pairs(void)
{
    MPI_Comm c[2] = { MPI_COMM_NULL, MPI_COMM_NULL };
    for (int first = rank - 1; first <= rank; first++) {
        if (first < 0 || first + 1 == size)
            continue;
        MPI_Group g = group_of(first, first + 1, 1);
        MPI_Comm_create_group(MPI_COMM_WORLD, g, 8, &c[first % 2]);
        MPI_Group_free(&g);
    }
    keep(c[0]);
    keep(c[1]);
}

/* All, all but one, and halves: of the same group, and alive together. */
static void by_group(MPI_Group all, int in_session)
{
    int range[3][3] = { { 0, size - 1, 1 }, { 1, size - 1, 1 }, { rank / 3 * 3, rank / 3 * 3 + 2, 1 } };
    for (int i = 0; i < 3; i++) {
        MPI_Group some;
        MPI_Comm c = MPI_COMM_NULL;
        MPI_Group_range_incl(all, 1, &range[i], &some);
#if MPI_VERSION >= 4
        if (in_session && rank >= range[i][0])
            MPI_Comm_create_from_group(some, "members", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
#endif
        if (!in_session && rank >= range[i][0])
            MPI_Comm_create_group(MPI_COMM_WORLD, some, 6, &c);
        keep(c);
        MPI_Group_free(&some);
    }
    MPI_Group_free(&all);
}

static void groups(void)
{
    by_group(group_of(0, size - 1, 1), 0);
}

static void sessions(void)
{
#if MPI_VERSION >= 4
    MPI_Group all;
    if (session == MPI_SESSION_NULL)
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    by_group(all, 1);
#endif
}

/* With a process more, which does in `all` what the others do there. */
static char *program;

static void spawn(void)
{
    char *arguments[] = { "child", NULL };
    MPI_Comm copy, between, all;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(between, 0, &all);
    MPI_Comm_disconnect(&between);
    keep(copy);
    keep(all);
    split();
}

static void child(MPI_Comm parent)
{
    MPI_Comm all;
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Comm_disconnect(&parent);
    for (int turn = 0; turn < TURNS; turn++)
        use(all);
    MPI_Comm_free(&all);
}

static const struct { const char *name; void (*make)(void); } kinds[] = {
    { "split", split }, { "create", create }, { "create_group", create_group }, { "split_type", split_type },
    { "dup", dup },     { "cart", cart },     { "inter", inter }, { "groups", groups },
    { "pairs", pairs }, { "spawn", spawn },
    { "sessions", sessions },
};

/* Made twice, while one of the first ones still lives; freed by each rank in an order of its own. */
static void run(void (*make)(void))
{
    MPI_Comm left = MPI_COMM_NULL;
    for (int again = 0; again < 2; again++) {
        made = 0;
        make();
        for (int turn = 0; turn < TURNS; turn++)
            for (int k = 0; k < made; k++)
                use(comm[k]);
        if (left != MPI_COMM_NULL)
            MPI_Comm_free(&left);
        left = again ? MPI_COMM_NULL : comm[0];
        for (int k = !again; k < made; k++) {
            MPI_Comm *c = &comm[rank % 2 ? k : made - 1 - k + !again];
            if (*c != MPI_COMM_NULL)
                MPI_Comm_free(c);
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    program = argv[0];
    if (parent != MPI_COMM_NULL)
        child(parent);
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (!strcmp(argv[i], kinds[k].name))
                run(kinds[k].make);
#if MPI_VERSION >= 4
    if (session != MPI_SESSION_NULL)
        MPI_Session_finalize(&session);
#endif
    MPI_Finalize();
    return 0;
}
